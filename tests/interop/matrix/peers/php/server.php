<?php

// Serves the contracts with PHP's own SoapServer. Run by php -S; the folder of the contracts is in INTEROP_CONTRACTS,
// that for what is remembered in INTEROP_STATE.

declare(strict_types=1);

require __DIR__ . '/values.php';

const REFUSAL_CODE = 42;

$contract = trim(parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH), '/');
$file = getenv('INTEROP_CONTRACTS') . "/$contract.wsdl";
if (preg_match('/\W/', $contract) || !is_file($file) || $_SERVER['REQUEST_METHOD'] !== 'POST') {
    http_response_code(404);
    return;
}
$server = new SoapServer($file, options($contract));
$server->setObject(new EchoService($server, $contract));
$server->handle();

final class EchoService
{
    public function __construct(private SoapServer $server, private string $contract)
    {
    }

    /** The header block `token`. */
    public function token(string $token): void
    {
        $this->server->addSoapHeader(new SoapHeader(NS, 'receipt', "receipt for $token"));
    }

    public function echoVoid(): mixed
    {
        return $this->contract === 'rpc' ? null : new stdClass();
    }

    public function fail(mixed $request): never
    {
        $refusal = (object) ['reason' => $this->value($request), 'code' => REFUSAL_CODE];
        // ext/soap takes the content of a part that is an element by the element's name, and that of another as it is.
        $detail = $this->contract === 'encoded' ? $refusal : (object) ['refusal' => $refusal];
        throw new SoapFault('Server', 'refused', null, $detail, 'refusal');
    }

    public function notify(mixed $request): void
    {
        file_put_contents($this->notices(), $this->value($request));
    }

    public function lastNotice(): mixed
    {
        $notice = (string) @file_get_contents($this->notices());
        @unlink($this->notices());
        return $this->result($notice);
    }

    /** Every other operation answers what it is asked. */
    public function __call(string $operation, array $arguments): mixed
    {
        return $this->result($this->value($arguments[0]));
    }

    private function value(mixed $request): mixed
    {
        return $this->contract === 'wrapped' ? $request->value : $request;
    }

    private function result(mixed $value): mixed
    {
        return $this->contract === 'wrapped' ? ['answer' => $value] : $value;
    }

    private function notices(): string
    {
        return getenv('INTEROP_STATE') . "/notice-{$this->contract}";
    }
}
