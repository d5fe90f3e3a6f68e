<?php
// Calls every operation with ext/soap at the URL that is the argument.

const OWN = 'urn:castile:everything';
const LINE = ['sku' => 'ABC-1', 'price' => '1.50', 'sizes' => '1 2'];
// How often lastNotice is asked, and the microseconds between.
const TRIES = 100;
const PAUSE = 20_000;
const AT = '2026-01-02T00:00:00Z';

class Shape
{
    public ?string $label;
}

class Circle extends Shape
{
    public float $radius;
}

class Square extends Shape
{
    public int $side;
}

function equal($found, $expected): void
{
    if ($found !== $expected) {
        throw new Exception('found ' . var_export($found, true) . ', expected ' . var_export($expected, true));
    }
}

function fault(callable $call): SoapFault
{
    try {
        $call();
    } catch (SoapFault $fault) {
        return $fault;
    }
    throw new Exception('an answer, expected a fault');
}

/** The names of the cases, and what is done in each. */
function cases(SoapClient $client, string $code): array
{
    return [
        'echoOrder' => function () use ($client) {
            $found = $client->echoOrder(['order' => [
                'number' => 7,
                'currency' => 'USD',
                'customer' => 'Ann & Co',
                'when' => '2026-02-03',
                'line' => [LINE, ['sku' => 'XYZ-9', 'price' => '2', 'part' => [LINE]]],
                'tags' => ['tag' => ['a', 'b']],
                'note' => null,
                'status' => 'Sent',
                'payment' => ['invoice' => ['_' => '12', 'unit' => 'EUR']],
            ]])->echoOrderResult;
            equal([$found->number, $found->currency], [7, 'USD']);
            equal($found->customer, 'Ann & Co');
            equal($found->when, '2026-02-03');
            equal([$found->line[0]->sku, $found->line[0]->price, $found->line[0]->sizes], ['ABC-1', '1.50', '1 2']);
            equal([$found->line[1]->sku, $found->line[1]->sizes ?? null], ['XYZ-9', null]);
            equal($found->line[1]->part[0]->sizes, '1 2');
            equal($found->tags->tag, ['a', 'b']);
            equal($found->note, null);
            equal($found->status, 'Sent');
            equal((array) $found->payment->invoice, ['_' => '12', 'unit' => 'EUR']);
        },
        'echoOrder of little' => function () use ($client) {
            $found = $client->echoOrder(['order' => [
                'number' => 1,
                'customer' => '',
                'tags' => [],
                'note' => 'soon',
                'status' => 'New',
                'payment' => ['card' => '4711'],
            ]])->echoOrderResult;
            equal([$found->number, $found->currency], [1, 'EUR']);
            equal($found->customer, '');
            equal([$found->when ?? null, $found->line ?? null], [null, null]);
            equal((array) $found->tags, []);
            equal([$found->note, $found->status], ['soon', 'New']);
            equal((array) $found->payment, ['card' => '4711']);
        },
        'echoShapes' => function () use ($client) {
            $found = $client->echoShapes(['shape' => [
                new SoapVar(['label' => 'c', 'radius' => 1.5], SOAP_ENC_OBJECT, 'Circle', OWN),
                new SoapVar(['side' => 2], SOAP_ENC_OBJECT, 'Square', OWN),
                ['label' => 's'],
            ]])->echoShapesResult;
            equal(array_map(get_class(...), $found), ['Circle', 'Square', 'Shape']);
            equal([$found[0]->radius, $found[1]->side], [1.5, 2]);
            equal([$found[0]->label, $found[2]->label], ['c', 's']);
        },
        'echoBytes' => fn () => equal($client->echoBytes(['bytes' => "\x00\xff", 'at' => AT])->echoBytesResult, "\x00\xff"),
        'divide' => fn () => equal($client->divide(['dividend' => 1, 'divisor' => 4])->divideResult, 0.25),
        'divide by zero' => function () use ($client, $code) {
            $fault = fault(fn () => $client->divide(['dividend' => 3, 'divisor' => 0]));
            equal(preg_replace('/.*:/', '', $fault->faultcode), $code);
            equal($fault->getMessage(), 'nothing is divided by zero');
            equal($fault->detail->divisionByZero->dividend, '3');
        },
        'key' => function () use ($client) {
            $client->__setSoapHeaders(new SoapHeader(OWN, 'session', ['key' => 'sesame']));
            try {
                equal($client->key([])->keyResult, 'sesame');
            } finally {
                $client->__setSoapHeaders(null);
            }
        },
        'key without session' => fn () => equal($client->key([])->keyResult ?? null, null),
        'echoLine' => fn () => equal((array) $client->echoLine(LINE), LINE),
        'echoLine with a part' => function () use ($client) {
            $found = $client->echoLine([...LINE, 'part' => [LINE]]);
            equal([$found->sku, $found->price, $found->sizes, (array) $found->part[0]], ['ABC-1', '1.50', '1 2', LINE]);
        },
        'echoLine of a wrong sku' => function () use ($client) {
            $text = fault(fn () => $client->echoLine([...LINE, 'sku' => 'wrong']))->getMessage();
            equal(str_contains($text, "doesn't match the pattern"), true);
        },
        'ping' => fn () => equal((array) $client->ping([]), []),
        'notify' => function () use ($client, $code) {
            $client->notify(['notice' => "for a $code"]);
            for ($tries = 0; $tries < TRIES; $tries++) {
                $found = $client->lastNotice([])->lastNoticeResult ?? null;
                if ($found !== null) {
                    break;
                }
                usleep(PAUSE);
            }
            equal($found, "for a $code");
        },
    ];
}

ini_set('soap.wsdl_cache_enabled', '0');
foreach (['11' => SOAP_1_1, '12' => SOAP_1_2] as $name => $version) {
    $client = new SoapClient("$argv[1]?wsdl", [
        'soap_version' => $version,
        'features' => SOAP_SINGLE_ELEMENT_ARRAYS,
        'classmap' => ['Shape' => 'Shape', 'Circle' => 'Circle', 'Square' => 'Square'],
    ]);
    foreach (cases($client, $name == '12' ? 'Sender' : 'Client') as $case => $call) {
        $wrong = '';
        try {
            $call();
        } catch (Throwable $error) {
            $wrong = preg_replace('/\s+/', ' ', $error->getMessage());
        }
        echo "$name\t$case\t$wrong\n";
    }
}
