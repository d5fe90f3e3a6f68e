<?php

// Calls what a plan lists with PHP's SoapClient: the JSON of a sample as objects, one for each element.

declare(strict_types=1);

$plan = json_decode(file_get_contents($argv[1]), false, 512, JSON_THROW_ON_ERROR);
foreach ($plan->jobs as $job) {
    foreach ($job->urls as $url) {
        try {
            $client = new SoapClient($url, ['cache_wsdl' => WSDL_CACHE_NONE, 'features' => SOAP_SINGLE_ELEMENT_ARRAYS, 'connection_timeout' => 10]);
        } catch (Throwable $error) {
            say($job, '?wsdl', $error->getMessage());
            continue;
        }
        $called = [];
        foreach ($client->__getFunctions() as $function) {
            preg_match('/(\w+)\((.*)\)$/', $function, $match);
            [, $name, $parameters] = $match + ['', '', ''];
            if (!isset($job->operations->$name) || isset($called[$name])) {
                continue;
            }
            $called[$name] = true;
            $value = value($job->operations->$name->json);
            $arguments = $parameters === '' ? [] : [$value];
            if (in_array($name, $job->rpc, true)) {
                preg_match_all('/\$(\w+)/', $parameters, $names);
                $arguments = array_map(fn ($part) => $value->$part ?? null, $names[1]);
            }
            try {
                $client->__soapCall($name, $arguments);
                say($job, $name, null);
            } catch (Throwable $error) {
                say($job, $name, $error->getMessage());
            }
        }
    }
}

/** A value of JSON (docs/json.md) as ext/soap takes it. */
function value(mixed $json): mixed
{
    if (is_array($json)) {
        return array_map(value(...), $json);
    }
    if (!$json instanceof stdClass) {
        return $json;
    }
    if (isset($json->{'$nil'})) {
        return null;
    }
    if (isset($json->{'$items'})) {
        return array_map(value(...), $json->{'$items'});
    }
    $made = new stdClass();
    foreach (get_object_vars($json) as $name => $inner) {
        match (true) {
            // Groups have no name in XML.
            $name === '$choice', $name === '$group' => merge($made, is_array($inner) ? $inner : [$inner]),
            $name === '$' => $made->_ = value($inner),
            $name === '$any' => $made->any = is_array($inner) ? implode('', $inner) : $inner,
            $name[0] === '$' => null,
            default => $made->{preg_replace('/^@?(\{.*\})?/', '', explode('#', $name)[0])} = value($inner),
        };
    }
    return $made;
}

function merge(stdClass $made, array $items): void
{
    foreach ($items as $item) {
        foreach (get_object_vars((object) value($item)) as $name => $inner) {
            $made->$name = isset($made->$name) ? array_merge((array) $made->$name, [$inner]) : $inner;
        }
    }
}

function say(stdClass $job, string $operation, ?string $error): void
{
    echo json_encode(['contract' => $job->contract, 'operation' => $operation, 'error' => $error], JSON_INVALID_UTF8_SUBSTITUTE), "\n";
}
