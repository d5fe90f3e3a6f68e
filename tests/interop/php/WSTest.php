<?php

declare(strict_types=1);

/** The operations of wstest.wsdl, by the rules in its documentation. */
final class WSTest
{
    private const DATE = '2005-07-01T12:00:00Z';
    private const LINES = 50;

    public function EchoVoid(): array
    {
        return [];
    }

    public function EchoStruct(stdClass $request): array
    {
        return ['EchoStructResult' => $request->array];
    }

    public function EchoList(stdClass $request): array
    {
        return isset($request->list) ? ['EchoListResult' => $request->list] : [];
    }

    public function GetOrder(stdClass $request): array
    {
        $customer = $request->customerId;
        $line = fn (int $k) => [
            'OrderId' => $request->orderId,
            'ItemId' => $k,
            'ProductId' => $k,
            'ProductDescription' => "Test Product $customer",
            'OrderQuantity' => 1,
            'UnitPrice' => 5.0,
        ];
        return ['GetOrderResult' => [
            'OrderId' => $request->orderId,
            'OrderStatus' => 1,
            'OrderDate' => self::DATE,
            'OrderTotalAmount' => 50.0,
            'Customer' => [
                'CustomerId' => $customer,
                'ContactFirstName' => "FirstName $customer",
                'ContactLastName' => "LastName $customer",
                'ContactPhone' => '425-882-8080',
                'LastActivityDate' => self::DATE,
                'CreditCardNumber' => '892374389740',
                'CreditCardExpirationDate' => '12/12/2012',
                // "Bil1" with a digit is the original's.
                'BillingAddress' => self::address('Bill', 'Bil1', $customer),
                'ShippingAddress' => self::address('Ship', 'Ship', $customer),
            ],
            'LineItems' => ['LineItem' => array_map($line, range(1, self::LINES))],
        ]];
    }

    private static function address(string $use, string $useInLastName, int $customer): array
    {
        return [
            'FirstName' => "$use FirstName $customer",
            'LastName' => "$useInLastName LastName $customer",
            'Address1' => "$use StreetAddress $customer",
            'Address2' => "Street Address Line 2 $customer",
            'City' => "City $customer",
            'State' => "State $customer",
            'Zip' => '12345',
        ];
    }
}
