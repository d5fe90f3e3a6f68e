<?php

// SoapClient of the contract of WSTest: client.php URL CASE. For each line of standard input, which is a number, so many calls over one
// connection; then a line with the items of the answers.

declare(strict_types=1);

const STRUCTS = 100;
const LINES = 50;

[, $url, $case] = $argv;
$client = new SoapClient("$url?wsdl", ['features' => SOAP_SINGLE_ELEMENT_ARRAYS, 'keep_alive' => true]);
$call = match ($case) {
    'EchoVoid' => function () use ($client): int {
        $client->EchoVoid();
        return 0;
    },
    'EchoStruct100' => echo_struct($client),
    'GetOrder' => fn (): int => get_order($client),
};
while (($line = fgets(STDIN)) !== false) {
    $items = 0;
    for ($left = (int) $line; $left > 0; $left--) {
        $items += $call();
    }
    echo $items, "\n";
}

function echo_struct(SoapClient $client): Closure
{
    $struct = fn (int $number): array => ['i' => $number, 'f' => (float) $number, 's' => 'wstest'];
    $sent = array_map($struct, range(1, STRUCTS));
    return function () use ($client, $sent): int {
        $found = $client->EchoStruct(['array' => ['l' => $sent]])->EchoStructResult->l;
        expect(count($found) === STRUCTS, '100 structs');
        foreach ([0, STRUCTS - 1] as $place) {
            expect((array) $found[$place] === $sent[$place], 'the struct that was sent');
        }
        return count($found);
    };
}

function get_order(SoapClient $client): int
{
    $order = $client->GetOrder(['orderId' => 1, 'customerId' => 2])->GetOrderResult;
    $lines = $order->LineItems->LineItem;
    expect([$order->OrderId, $order->Customer->CustomerId] === [1, 2], 'order 1 of customer 2');
    expect(count($lines) === LINES, '50 lines');
    foreach ([1, LINES] as $number) {
        $line = $lines[$number - 1];
        $found = [$line->ItemId, $line->UnitPrice, $line->ProductDescription];
        expect($found === [$number, 5.0, 'Test Product 2'], 'the line of this number');
    }
    return count($lines);
}

function expect(bool $right, string $what): void
{
    if (!$right) {
        throw new UnexpectedValueException("the answer is not as expected: $what");
    }
}
