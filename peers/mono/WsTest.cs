using System;
using System.Web.Services;

namespace Peer.wstest
{
    /// <summary>WSTest 1.1: echoes, and an order that is made up anew for each request.</summary>
    [WebService(Namespace = "uri:WSTestWeb-TestService")]
    public sealed class Service : ITestServiceSoap
    {
        const int Lines = 50;
        static readonly DateTime Moment = new DateTime(2005, 7, 1, 12, 0, 0, DateTimeKind.Utc);

        public void EchoVoid() {}

        public TestStruct[] EchoStruct(TestStruct[] array) { return array; }

        public TestNode EchoList(TestNode list) { return list; }

        public Order GetOrder(int orderId, int customerId)
        {
            var lines = new LineItem[Lines];
            for (int index = 0; index < Lines; index++)
            {
                lines[index] = new LineItem
                {
                    OrderId = orderId,
                    ItemId = index + 1,
                    ProductId = index + 1,
                    ProductDescription = "Test Product " + customerId,
                    OrderQuantity = 1,
                    UnitPrice = 5,
                };
            }
            return new Order
            {
                OrderId = orderId,
                OrderStatus = 1,
                OrderDate = Moment,
                OrderTotalAmount = 50,
                Customer = new Customer
                {
                    CustomerId = customerId,
                    ContactFirstName = "FirstName " + customerId,
                    ContactLastName = "LastName " + customerId,
                    ContactPhone = "425-882-8080",
                    LastActivityDate = Moment,
                    CreditCardNumber = "892374389740",
                    CreditCardExpirationDate = "12/12/2012",
                    // "Bil1" with a digit is the benchmark's own.
                    BillingAddress = Address("Bill", "Bil1", customerId),
                    ShippingAddress = Address("Ship", "Ship", customerId),
                },
                LineItems = lines,
            };
        }

        static Address Address(string use, string useInLastName, int customerId)
        {
            return new Address
            {
                FirstName = use + " FirstName " + customerId,
                LastName = useInLastName + " LastName " + customerId,
                Address1 = use + " StreetAddress " + customerId,
                Address2 = "Street Address Line 2 " + customerId,
                City = "City " + customerId,
                State = "State " + customerId,
                Zip = "12345",
            };
        }
    }
}
