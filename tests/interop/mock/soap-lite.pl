#!/usr/bin/perl
# Calls what a plan lists with SOAP::Lite, which reads operations from the contract, and knows no types of documents: it is given the
# values of parts that are simple, and else the element of the sample as it is.
use strict;
use warnings;
use utf8;

use JSON::PP;
use SOAP::Lite;

binmode STDOUT, ':utf8';
my $json = JSON::PP->new->canonical->allow_nonref;
my $plan = $json->decode(slurp($ARGV[0]));
for my $job (@{ $plan->{jobs} }) {
    for my $url (@{ $job->{urls} }) {
        my $services = eval { local $SIG{__WARN__} = sub { }; SOAP::Schema->schema_url($url)->parse->services };
        if (!$services) {
            say_of($job, '?wsdl', $@ || 'no services');
            next;
        }
        my %called;
        for my $service (sort keys %$services) {
            for my $name (sort keys %{ $services->{$service} }) {
                my $sample = $job->{operations}{$name} or next;
                next if $called{$name}++;
                my $error = eval { call($job, $services->{$service}{$name}, $name, $sample) };
                say_of($job, $name, $@ ? "$@" : $error);
            }
        }
    }
}

# What was wrong, or undef.
sub call {
    my ($job, $method, $name, $sample) = @_;
    my $action = $method->{soapaction} // '';
    my $soap = SOAP::Lite->proxy("$method->{endpoint}", timeout => 20)->on_action(sub { qq("$action") })->on_fault(sub { $_[1] });
    my $answer;
    my @parameters = @{ $method->{parameters} || [] };
    my $values = ref $sample->{json} eq 'HASH' ? $sample->{json} : {};
    # A struct or an array would get a type of Perl's.
    if ((grep { $_ eq $name } @{ $job->{rpc} }) && @parameters && !grep { !defined $values->{ $_->name } || ref $values->{ $_->name } } @parameters) {
        my @arguments = map { SOAP::Data->name($_->name => $values->{ $_->name })->type($_->type =~ s/.*://r) } @parameters;
        my $namespace = $method->{uri} || $method->{namespace} || '';
        $answer = $soap->call(SOAP::Data->name("s:$name")->attr({ 'xmlns:s' => "$namespace" }), @arguments);
    }
    else {
        my ($name_of, $attributes, $content) = slurp($sample->{xml}) =~ m{<\w+:Body[^>]*>\s*<([\w:.-]+)((?:\s[^>]*?)?)(?:/>|>(.*)</\1>)\s*</\w+:Body>}s;
        return 'the sample has no element' if !defined $name_of;
        my %attributes = $attributes =~ m{([\w:.-]+)\s*=\s*"([^"]*)"}g;
        # Without any content it would be nil.
        $answer = $soap->call(SOAP::Data->name($name_of)->attr(\%attributes), SOAP::Data->type('xml' => $content // ''));
    }
    return undef if !defined $answer;
    return 'transport: ' . $soap->transport->status if !ref $answer;
    return $answer->fault ? 'fault: ' . $answer->faultcode . ' ' . $answer->faultstring : undef;
}

sub slurp {
    my ($file) = @_;
    open my $in, '<:raw', $file or die "$file: $!";
    local $/;
    return scalar <$in>;
}

sub say_of {
    my ($job, $operation, $error) = @_;
    print $json->encode({ contract => $job->{contract}, operation => $operation, error => $error }), "\n";
}
