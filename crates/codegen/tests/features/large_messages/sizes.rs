const _: () = assert!(size_of::<Large>() <= 288 && 288 <= 1024);
const _: () = assert!(size_of::<Larger>() <= 32 && 32 <= 1024);
const _: () = assert!(size_of::<PartsRequest>() <= 872 && 872 <= 1024);
const _: () = assert!(size_of::<PartsResponse>() <= 872 && 872 <= 1024);
const _: () = assert!(size_of::<OneHeader>() <= 288 && 288 <= 1024);
const _: () = assert!(size_of::<TwoHeader>() <= 288 && 288 <= 1024);
const _: () = assert!(size_of::<ThreeHeader>() <= 288 && 288 <= 1024);
const _: () = assert!(size_of::<EchoFault>() <= 16 && 16 <= 1024);
