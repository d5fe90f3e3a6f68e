<?php

// Calls what a plan lists with PHP's own SoapClient in WSDL mode.

declare(strict_types=1);

require __DIR__ . '/values.php';

const NOTICE_TRIES = 40;
const NOTICE_PAUSE_MICROSECONDS = 50_000;

$plan = json_decode(file_get_contents($argv[1]));
foreach ($plan->jobs as $job) {
    $client = new SoapClient($job->wsdl, options($job->contract) + [
        'location' => $job->url,
        'soap_version' => $job->version === '12' ? SOAP_1_2 : SOAP_1_1,
    ]);
    foreach ($job->cases as $case) {
        try {
            $outcome = ['value' => value($client, $job->contract, $case)];
        } catch (Throwable $error) {
            $outcome = ['error' => $error::class . ': ' . $error->getMessage()];
        }
        $line = ['contract' => $job->contract, 'version' => $job->version, 'operation' => $case->operation, 'case' => $case->case];
        echo json_encode($line + $outcome, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_INVALID_UTF8_SUBSTITUTE), "\n";
    }
}

function value(SoapClient $client, string $contract, stdClass $case): mixed
{
    switch ($case->kind) {
        case 'echo':
            return to_json(call($client, $contract, $case->operation, [from_json($case->value, $case->type)]), $case->type);
        case 'void':
            call($client, $contract, $case->operation, []);
            return null;
        case 'header':
            $headers = [];
            $token = new SoapHeader(NS, 'token', $case->value->token);
            $result = call($client, $contract, $case->operation, [$case->value->value], [$token], $headers);
            return ['result' => $result, 'receipt' => $headers['receipt'] ?? null];
        case 'fault':
            try {
                call($client, $contract, $case->operation, [$case->value]);
            } catch (SoapFault $fault) {
                $refusal = $fault->detail->refusal ?? throw $fault;
                return $refusal instanceof SoapVar ? $refusal->enc_value : $refusal;
            }
            throw new RuntimeException('a response, expected a fault');
        case 'one-way':
            call($client, $contract, $case->operation, [$case->value]);
            for ($try = 0; $try < NOTICE_TRIES; $try++) {
                $notice = call($client, $contract, 'lastNotice', []);
                if ($notice !== '' && $notice !== null) {
                    break;
                }
                usleep(NOTICE_PAUSE_MICROSECONDS);
            }
            return $notice;
    }
    throw new RuntimeException("no kind of case is called {$case->kind}");
}

function call(SoapClient $client, string $contract, string $operation, array $values, array $headers = [], array &$answered = []): mixed
{
    $arguments = match ($contract) {
        'wrapped' => [$values === [] ? new stdClass() : ['value' => $values[0]]],
        'bare' => $values === [] ? [new stdClass()] : $values,
        default => $values,
    };
    $result = $client->__soapCall($operation, $arguments, null, $headers, $answered);
    return $contract === 'wrapped' ? $result->answer ?? null : $result;
}
