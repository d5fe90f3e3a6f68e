<?php
// Calls every operation of the service at the URL that is the argument.

function equal($found, $expected): void
{
    if ($found != $expected) {
        fwrite(STDERR, 'found ' . var_export($found, true) . ', expected ' . var_export($expected, true) . "\n");
        exit(1);
    }
}

$url = $argv[1];
ini_set('soap.wsdl_cache_enabled', '0');
foreach ([SOAP_1_1, SOAP_1_2] as $version) {
    $client = new SoapClient("$url?wsdl", ['soap_version' => $version, 'features' => SOAP_SINGLE_ELEMENT_ARRAYS]);
    $line = ['sku' => 'ABC-1', 'price' => '1.50', 'sizes' => '1 2'];
    $order = [
        'number' => 7,
        'customer' => 'Ann & Co',
        'when' => '2026-02-03',
        'line' => [$line, ['sku' => 'XYZ-9', 'price' => '2', 'part' => [$line]]],
        'tags' => ['tag' => ['a', 'b']],
        'note' => null,
        'status' => 'Sent',
        'payment' => ['invoice' => ['_' => '12', 'unit' => 'EUR']],
    ];
    $found = $client->echoOrder(['order' => $order])->echoOrderResult;
    equal($found->number, 7);
    equal($found->currency, 'EUR');
    equal($found->customer, 'Ann & Co');
    equal($found->line[1]->part[0]->sku, 'ABC-1');
    equal($found->tags->tag, ['a', 'b']);
    equal($found->note, null);
    equal($found->status, 'Sent');
    equal($found->payment->invoice->unit, 'EUR');
    $circle = new SoapVar(['radius' => 1.5], SOAP_ENC_OBJECT, 'Circle', 'urn:castile:everything');
    $found = $client->echoShapes(['shape' => [$circle]])->echoShapesResult;
    equal($found[0]->radius ?? null, 1.5);
    equal($client->echoBytes(['bytes' => "\x00\xff", 'at' => '2026-01-02T00:00:00Z'])->echoBytesResult, "\x00\xff");
    equal($client->divide(['dividend' => 1, 'divisor' => 4])->divideResult, 0.25);
    try {
        $client->divide(['dividend' => 3, 'divisor' => 0]);
        equal('no fault', 'a fault');
    } catch (SoapFault $fault) {
        equal($fault->getMessage(), 'nothing is divided by zero');
        equal($fault->detail->divisionByZero->dividend, 3);
    }
    $session = new SoapHeader('urn:castile:everything', 'session', ['key' => 'sesame']);
    $client->__setSoapHeaders($session);
    equal($client->key([])->keyResult, 'sesame');
    $client->__setSoapHeaders(null);
    equal($client->key([])->keyResult ?? null, null);
    equal($client->echoLine($line)->sku, 'ABC-1');
    $client->ping([]);
}
echo "PHP: 7 operations\n";
