const _: () = assert!(size_of::<Value>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<EchoFault>() <= 32 && 32 <= 1024);
const _: () = assert!(size_of::<AgainFault>() <= 32 && 32 <= 1024);
