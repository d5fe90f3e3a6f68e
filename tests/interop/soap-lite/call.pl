#!/usr/bin/perl
# Calls our server with Perl's SOAP::Lite, which knows no contract: it guesses the type of each value from how it looks, and writes
# text beyond ASCII as xsd:base64Binary. Where it reads the contract, it writes the types that stand there.
#
#     call.pl URL       where `castile serve` listens (Debian: libsoap-lite-perl)
use strict;
use warnings;
use utf8;

use Scalar::Util;
use SOAP::Lite;
use Test::More;

binmode Test::More->builder->$_, ':utf8' for qw(output failure_output todo_output);
my $url = shift or die "usage: call.pl URL\n";
my $namespace = 'http://soapinterop.org/';
my $soap = SOAP::Lite->proxy("$url/interop/base")->uri($namespace)->on_action(sub { "\"$namespace\"" });
# A fault is a value here, and no reason to die.
$soap->on_fault(sub { $_[1] });

# What an operation answers to one named value, without its class.
sub call {
    my ($operation, $name, $value, $type) = @_;
    my $argument = SOAP::Data->name($name => $value);
    $argument->type($type) if $type;
    my $answer = $soap->call($operation, defined $name ? $argument : ());
    return 'transport: ' . $soap->transport->status unless ref $answer;
    return 'fault: ' . $answer->faultstring if $answer->fault;
    return plain($answer->result);
}

sub plain {
    my ($value) = @_;
    my $kind = Scalar::Util::reftype($value) // '';
    return [map { plain($_) } @$value] if $kind eq 'ARRAY';
    return {map { $_ => plain($value->{$_}) } keys %$value} if $kind eq 'HASH';
    return $value;
}

my %struct = (varInt => 1, varString => 'grün', varFloat => 2.5);
for (
    # Operation, part, value, and the type if it is not to be guessed.
    ['echoString', 'inputString', 'plain'],
    ['echoString', 'inputString', 'café & <tags>'],
    ['echoString', 'inputString', '42'],
    ['echoString', 'inputString', 'café', 'string'],
    ['echoStringArray', 'inputStringArray', ['one', 'zwei', 'trés']],
    ['echoInteger', 'inputInteger', 42],
    ['echoIntegerArray', 'inputIntegerArray', [1, 2, 3]],
    ['echoFloat', 'inputFloat', 1.5],
    ['echoStruct', 'inputStruct', \%struct],
    ['echoStructArray', 'inputStructArray', [\%struct, \%struct]],
    ['echoDate', 'inputDate', '2026-02-28T23:59:59Z', 'dateTime'],
    ['echoBase64', 'inputBase64', "a\0\xff", 'base64'],
    ['echoBoolean', 'inputBoolean', 1, 'boolean'],
    ['echoDecimal', 'inputDecimal', '123.45'],
) {
    my ($operation, $name, $value, $type) = @$_;
    is_deeply(call(@$_), $value, join ' ', $operation, $type // 'as guessed');
}
is(call('echoVoid'), undef, 'echoVoid, whose call is nil');
like(
    call('echoStruct', 'inputStruct', bless {%struct}, 'My::Struct'),
    qr/^fault: .*\}My__Struct, where .*SOAPStruct was expected/,
    'a class of Perl is no type of the contract',
);
like(call('echoNothing', 'a', 1), qr/^fault: .*echoNothing/, 'an operation that is not there');

my $service = SOAP::Lite->service("$url/interop/base?wsdl");
is($service->echoString('café'), 'café', 'echoString, by the contract');
is($service->echoInteger(7), 7, 'echoInteger, by the contract');
is($service->echoFloat(1.25), 1.25, 'echoFloat, by the contract');
done_testing();
