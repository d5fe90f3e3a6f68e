<?php
// PHP's SoapClient places, gets and cancels an order of a service that `castile mock` serves.
//
//     php tests/interop/mock/orders.php URL

function expect(bool $holds, string $what): void
{
    if (!$holds) {
        fwrite(STDERR, "expected $what\n");
        exit(1);
    }
}

$client = new SoapClient($argv[1] . '/orders?wsdl', ['cache_wsdl' => WSDL_CACHE_NONE]);
$order = ['customer' => 'Ann', 'item' => [['name' => 'tea', 'quantity' => 2]]];
$number = $client->Place(['order' => $order])->number;
$found = $client->GetOrder(['number' => $number])->order;
expect($found->customer === 'Ann' && $found->item->quantity === 2, 'the order that was placed');
$client->Cancel(['number' => $number]);
try {
    $client->GetOrder(['number' => $number]);
    expect(false, 'a fault');
} catch (SoapFault $fault) {
    expect($fault->getMessage() === "no order $number", 'a fault that says which order there is not');
    expect($fault->detail->NotFound->number === $number, 'the detail that the contract declares');
}
echo "PHP: 4 calls\n";
