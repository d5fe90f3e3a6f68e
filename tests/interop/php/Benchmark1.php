<?php

declare(strict_types=1);

/**
 * The operations of benchmark1.wsdl, by the rules in its documentation.
 *
 * Each method gets the request element as an object with the child elements as properties, and answers in the same form.
 */
final class Benchmark1
{
    private const MAX_SIZE = 100_000;

    public function echoVoid(): array
    {
        return [];
    }

    public function echoBase64(stdClass $request): array
    {
        return ['echoBase64Return' => $request->input];
    }

    public function echoStrings(stdClass $request): array
    {
        return ['echoStringsReturn' => self::values($request)];
    }

    public function echoInts(stdClass $request): array
    {
        return ['echoIntsReturn' => self::values($request)];
    }

    public function echoDoubles(stdClass $request): array
    {
        return ['echoDoublesReturn' => self::values($request)];
    }

    public function echoMeshInterfaceObjects(stdClass $request): array
    {
        return ['echoMeshInterfaceObjectReturn' => self::values($request)];
    }

    public function echoSimpleEvents(stdClass $request): array
    {
        return ['echoSimpleEventsReturn' => ['item' => self::items($request)]];
    }

    public function receiveBase64(stdClass $request): array
    {
        return ['receiveBase64Return' => strlen($request->input)];
    }

    public function receiveStrings(stdClass $request): array
    {
        return ['receiveStringsReturn' => count(self::values($request))];
    }

    public function receiveInts(stdClass $request): array
    {
        return ['receiveIntsReturn' => count(self::values($request))];
    }

    public function receiveDoubles(stdClass $request): array
    {
        return ['receiveDoublesReturn' => count(self::values($request))];
    }

    public function receiveMeshInterfaceObjects(stdClass $request): array
    {
        return ['receiveMeshInterfaceObjectsReturn' => count(self::items($request))];
    }

    public function receiveSimpleEvents(stdClass $request): array
    {
        return ['receiveSimpleEventsReturn' => count(self::items($request))];
    }

    public function sendBase64(stdClass $request): array
    {
        $bytes = array_map(fn (int $i) => chr($i % 256), self::indices($request, 0));
        return ['sendBase64Return' => implode('', $bytes)];
    }

    public function sendStrings(stdClass $request): array
    {
        return ['sendStringsReturn' => array_map(fn (int $i) => "s$i", self::indices($request, 1))];
    }

    public function sendInts(stdClass $request): array
    {
        return ['sendIntsReturn' => self::indices($request, 1)];
    }

    public function sendDoubles(stdClass $request): array
    {
        return ['sendDoublesReturn' => array_map(fn (int $i) => (float) $i, self::indices($request, 1))];
    }

    public function sendMeshInterfaceObjects(stdClass $request): array
    {
        $object = fn (int $i) => ['x' => $i, 'y' => $i, 'value' => sqrt($i)];
        return ['sendMeshInterfaceObjectsReturn' => ['item' => array_map($object, self::indices($request, 0))]];
    }

    public function sendSimpleEvents(stdClass $request): array
    {
        $event = fn (int $i) => ['sequenceNumber' => $i, 'timestamp' => sqrt($i), 'message' => "Message #$i"];
        return ['sendSimpleEventsReturn' => ['item' => array_map($event, self::indices($request, 0))]];
    }

    /** The repeated element `input`; ext/soap doesn't check that it is there. */
    private static function values(stdClass $request): array
    {
        return $request->input ?? throw new SoapFault('Client', 'found no input, expected at least one');
    }

    /** The entries of an array type: no property at all when there are none. */
    private static function items(stdClass $request): array
    {
        $array = $request->input ?? throw new SoapFault('Client', 'found no input, expected one');
        return $array->item ?? [];
    }

    /** The numbers 0 to size - 1. */
    private static function indices(stdClass $request, int $least): array
    {
        $size = $request->size ?? throw new SoapFault('Client', 'found no size, expected one');
        if ($size < $least || $size > self::MAX_SIZE) {
            throw new SoapFault('Client', "size: found $size, expected $least to " . self::MAX_SIZE);
        }
        return $size === 0 ? [] : range(0, $size - 1);
    }
}
