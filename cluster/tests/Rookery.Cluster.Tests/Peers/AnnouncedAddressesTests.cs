using System.Globalization;
using System.Net;
using Rookery.Cluster.Joining;
using Rookery.Cluster.Peers;

namespace Rookery.Cluster.Tests.Peers;

/// <summary>The announced addresses that a member accepts.</summary>
public sealed class AnnouncedAddressesTests
{
    [Fact]
    public void Addresses_are_read_as_they_were_sent() =>
        Assert.Equal(
            ["192.168.1.12:9443", "pi-2.lan:9443", "[fd00::2]:9443"],
            Read("192.168.1.7", "192.168.1.12:9443", "pi-2.lan:9443", "[fd00::2]:9443")
        );

    [Fact]
    public void Loopback_link_local_multicast_and_invalid_addresses_are_dropped() =>
        Assert.Equal(
            ["192.168.1.12:9443"],
            Read(
                "192.168.1.7",
                "127.0.0.1:9443",
                "[::1]:9443",
                "[::ffff:127.0.0.1]:9443",
                "0.0.0.0:9443",
                "[::]:9443",
                "169.254.3.4:9443",
                "[fe80::1%3]:9443",
                "[fe80::1]:9443",
                "[::ffff:169.254.3.4]:9443",
                "224.0.0.1:9443",
                "255.255.255.255:9443",
                "[ff02::1]:9443",
                "192.168.1.12",
                "192.168.1.12:0",
                "a b:9443",
                string.Empty,
                "192.168.1.12:9443"
            )
        );

    [Theory]
    [InlineData("127.0.0.1")]
    [InlineData("::1")]
    [InlineData("::ffff:127.0.0.1")]
    public void Loopback_addresses_are_accepted_only_over_loopback(string from) =>
        Assert.Equal(["127.0.0.2:9443"], Read(from, "127.0.0.2:9443"));

    [Fact]
    public void Addresses_after_the_maximum_number_are_dropped() =>
        Assert.Equal(
            AnnouncedAddresses.MaxAddresses,
            Read(
                "192.168.1.7",
                [
                    .. Enumerable
                        .Range(1, 100)
                        .Select(static n => string.Create(CultureInfo.InvariantCulture, $"10.0.0.{n}:9443")),
                ]
            ).Length
        );

    [Fact]
    public void The_most_and_longest_addresses_fit_a_packet()
    {
        string longest =
            string.Join('.', new string('a', 63), new string('b', 63), new string('c', 63), new string('d', 56))
            + ":65535";
        Assert.True(MemberAddress.IsValid(longest));
        Assert.False(MemberAddress.IsValid("a" + longest));
        var body = new AddressesBody([.. Enumerable.Repeat(longest, AnnouncedAddresses.MaxAddresses)]);
        Assert.InRange(body.SizeInBytes + PeerProtocol.PacketHeadBytes, 0, PeerProtocol.MaxControlPacketBytes);
    }

    [Fact]
    public void A_mangled_packet_is_refused_or_read()
    {
        byte[] good = Encode("192.168.1.12:9443", "[fd00::2]:9443");
        for (int seed = 0; seed < 2_000; seed++)
        {
            byte[] mangled = MessageCodecTests.Mangle(new Random(seed), good);
            try
            {
                Assert.All(
                    AnnouncedAddresses.Read(mangled, IPAddress.Loopback),
                    place => Assert.True(MemberAddress.IsValid(place), $"seed {seed}")
                );
            }
            catch (PeerProtocolException)
            {
                // Expected.
            }
        }
    }

    private static string[] Read(string from, params string[] places) =>
        AnnouncedAddresses.Read(Encode(places), IPAddress.Parse(from));

    private static byte[] Encode(params string[] places)
    {
        var body = new AddressesBody(places);
        byte[] bytes = new byte[body.SizeInBytes];
        body.Write(bytes);
        return bytes;
    }
}
