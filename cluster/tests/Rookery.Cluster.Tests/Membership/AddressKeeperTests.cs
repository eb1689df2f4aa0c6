using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Cluster.Membership;
using Rookery.Cluster.Tests.Identity;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Membership;

/// <summary>The addresses of this machine, which the node announces and puts into its certificate.</summary>
public sealed class AddressKeeperTests : IDisposable
{
    private readonly ClusterAuthority _authority = ClusterAuthority.Create(
        TestAuthority.ClusterId,
        "home",
        ["example.org", "shop"]
    );
    private readonly IdentityKeeper _keeper;
    private readonly AddressKeeper _addressKeeper;
    private readonly List<string> _log = [];
    private MemberFacts _facts = FactsOf("192.168.1.5");
    private DateTimeOffset _now = TestAuthority.Now;

    public AddressKeeperTests()
    {
        var disk = new SimulatedDisk("/data");
        var identity = TestAuthority.CreateIdentity(_authority);
        IdentityDirectory.Create(disk, "/data", identity);
        _keeper = new IdentityKeeper(disk, "/data", identity);
        _addressKeeper = new AddressKeeper(_keeper, () => _facts, () => new SigningClock(_now, IsSure: true), _log.Add);
    }

    public void Dispose() => _authority.Dispose();

    [Theory]
    [InlineData("192.168.1.5", true)]
    [InlineData("10.8.0.1", true)]
    [InlineData("pi-1.local", true)]
    [InlineData("pi-1.home.rookery", true)]
    [InlineData("db.home.arpa", true)]
    [InlineData("pi-1.example.org", true)]
    [InlineData("example.org", true)]
    [InlineData("shop", true)]
    [InlineData("pi-1", false)]
    [InlineData("bank.example", false)]
    public void The_certificate_covers_every_permitted_name_that_clients_use(string host, bool isCovered)
    {
        _facts = FactsOf("192.168.1.5", peer: "10.8.0.1", publicUrl: "https://DB.home.arpa:8443");
        RunRounds(1);
        Assert.Equal(isCovered, _keeper.Current.Certificate.MatchesHostname(host));
    }

    [Fact]
    public void A_machine_that_moves_announces_its_new_address_and_gets_a_new_certificate_within_a_minute()
    {
        RunRounds(1);
        var before = _addressKeeper.Facts;
        _log.Clear();
        _facts = FactsOf("192.168.1.77");
        RunRounds(60);
        Assert.NotSame(before, _addressKeeper.Facts);
        Assert.True(_keeper.Current.Certificate.MatchesHostname("192.168.1.77"));
        Assert.Equal("This node's certificate was signed anew.", Assert.Single(_log));
    }

    [Fact]
    public void A_machine_that_stays_or_loses_its_network_announces_nothing()
    {
        RunRounds(1);
        var (before, certificate) = (_addressKeeper.Facts, _keeper.Current.Certificate);
        _facts = FactsOf("192.168.1.5");
        RunRounds(60);
        _facts = _facts with { Addresses = [], ClientUrls = [] };
        RunRounds(60);
        Assert.Same(before, _addressKeeper.Facts);
        Assert.Same(certificate, _keeper.Current.Certificate);
    }

    /// <summary>
    /// The node was off for a long time, and its clock reaches a time source half a minute after the start.
    /// </summary>
    [Theory]
    [InlineData(2)]
    [InlineData(-2)]
    public void A_certificate_is_renewed_at_once_when_the_clock_steps_out_of_its_validity(int years)
    {
        _now = TestAuthority.Now.AddYears(10);
        RunRounds(30);
        _now = _now.AddYears(years);
        RunRounds(1);
        var (notBefore, notAfter) = CertificateLife.Of(_keeper.Current.Certificate);
        Assert.InRange(_now, notBefore, notAfter);
    }

    [Theory]
    [InlineData("https://bank.example:8443", "will refuse this node there: its certificate cannot be for bank.example")]
    [InlineData("https://203.0.113.7:8443", "cannot be for 203.0.113.7")]
    [InlineData("https://pi-1.example.org:8443", null)]
    [InlineData("https://192.168.1.5:8443", null)]
    [InlineData(null, null)]
    public void A_public_URL_for_which_the_authority_may_not_sign_causes_a_warning(string? url, string? sentence)
    {
        var facts = FactsOf("192.168.1.5", publicUrl: url);
        string? warning = facts.WhyClientsRefuseCertificate(_keeper.Current);
        Assert.Equal(sentence is null, warning is null);
        Assert.Contains(sentence ?? "", warning ?? "", StringComparison.Ordinal);
        var withoutTls = facts with { ClientUrls = ["http://127.0.0.1:8080"] };
        Assert.Null(withoutTls.WhyClientsRefuseCertificate(_keeper.Current));
    }

    private static MemberFacts FactsOf(string address, string? peer = null, string? publicUrl = null) =>
        new(
            Guid.Empty,
            StartNumber: 1,
            StartId: 1,
            Addresses: [$"{peer ?? address}:9443"],
            ClientUrls: [$"https://{address}:8443"],
            publicUrl
        );

    /// <summary>Runs rounds. A node runs one each second.</summary>
    private void RunRounds(int count)
    {
        for (int round = 0; round < count; round++)
        {
            _addressKeeper.DoRound();
        }
    }
}
