const _: () = assert!(size_of::<Value>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<Session>() <= 32 && 32 <= 1024);
const _: () = assert!(size_of::<EchoRequestHeader>() <= 80 && 80 <= 1024);
const _: () = assert!(size_of::<EchoResponseHeader>() <= 32 && 32 <= 1024);
const _: () = assert!(size_of::<FeatureHeader>() <= 56 && 56 <= 1024);
const _: () = assert!(size_of::<EchoFault>() <= 32 && 32 <= 1024);
