<?php

// Serves both contracts with PHP's SoapServer. The services are those that our client is tried on.

declare(strict_types=1);

const SERVICES = ['/benchmark1' => ['benchmark1', 'Benchmark1'], '/wstest' => ['wstest', 'WSTest']];

$service = SERVICES[$_SERVER['DOCUMENT_URI']] ?? null;
if ($service === null) {
    http_response_code(404);
    return;
}
[$suite, $class] = $service;
$root = __DIR__ . '/../..';
require "$root/tests/interop/php/$class.php";
$server = new SoapServer("$root/crates/suites/contracts/$suite.wsdl", [
    'cache_wsdl' => WSDL_CACHE_MEMORY,
    // Without it, an array of one element arrives as that element.
    'features' => SOAP_SINGLE_ELEMENT_ARRAYS,
]);
$server->setClass($class);
$server->handle();
