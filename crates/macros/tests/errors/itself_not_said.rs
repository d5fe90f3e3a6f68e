#[derive(Xml)]
#[xml(namespace = "urn:a", name = "Vehicle", derived)]
enum AnyVehicle {
    Vehicle(Vehicle),
    Truck(Truck),
}
