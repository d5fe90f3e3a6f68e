<?php

// Serves both contracts with PHP's own SoapServer: somebody else's reading of them, for our client to call.
// Run by `serve`; see ../README.md.

declare(strict_types=1);

require __DIR__ . '/Benchmark1.php';
require __DIR__ . '/WSTest.php';

const SERVICES = [
    '/benchmark1' => ['benchmark1.wsdl', Benchmark1::class],
    '/wstest' => ['wstest.wsdl', WSTest::class],
];
const XSD = 'http://www.w3.org/2001/XMLSchema';

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
$service = SERVICES[$path] ?? null;
if ($service === null) {
    plain(404, 'services: ' . implode(' ', array_keys(SERVICES)));
    return;
}
[$wsdl, $class] = $service;
$file = __DIR__ . '/../../../crates/suites/contracts/' . $wsdl;

if ($_SERVER['REQUEST_METHOD'] === 'GET' && strtolower($_SERVER['QUERY_STRING'] ?? '') === 'wsdl') {
    // SoapServer would send the file as it is, with the address of its author's machine.
    $address = htmlspecialchars("http://{$_SERVER['HTTP_HOST']}$path");
    header('Content-Type: text/xml; charset=utf-8');
    echo preg_replace('~(<soap:address location=")[^"]*~', '${1}' . $address, file_get_contents($file));
    return;
}
if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
    header('Allow: GET, POST');
    plain(405, "$path takes POST, and GET with ?wsdl");
    return;
}

$server = new SoapServer($file, [
    'cache_wsdl' => WSDL_CACHE_NONE,
    // Without it, an array of one element arrives as that element.
    'features' => SOAP_SINGLE_ELEMENT_ARRAYS,
    // Left alone, ext/soap writes not-a-number as NAN, which XML Schema doesn't know (Part 2, 3.2.4 and 3.2.5: NaN).
    'typemap' => [
        ['type_ns' => XSD, 'type_name' => 'float', 'to_xml' => 'number'],
        ['type_ns' => XSD, 'type_name' => 'double', 'to_xml' => 'number'],
    ],
]);
$server->setClass($class);
$server->handle();

/** An element with the lexical form of a float or double; ext/soap gives it the name that the schema asks for. */
function number(float $value): string
{
    $text = match (true) {
        is_nan($value) => 'NaN',
        is_infinite($value) => $value < 0 ? '-INF' : 'INF',
        // The shortest digits that read back as the same number; `serve` sets serialize_precision for it.
        default => json_encode($value),
    };
    return "<number>$text</number>";
}

function plain(int $status, string $text): void
{
    http_response_code($status);
    header('Content-Type: text/plain; charset=utf-8');
    echo $text, "\n";
}
