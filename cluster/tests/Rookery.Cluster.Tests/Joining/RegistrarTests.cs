using System.Security.Cryptography.X509Certificates;
using System.Text;
using System.Text.Json;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Cluster.Tests.Identity;
using Rookery.Documents.Nodes;
using Rookery.Raft;

namespace Rookery.Cluster.Tests.Joining;

/// <summary>
/// The member's part of a join: it checks the token, assigns a letter, signs a certificate, and adds the node as a
/// learner.
/// </summary>
public sealed class RegistrarTests : IDisposable
{
    private readonly TestCluster _cluster = new();

    public void Dispose() => _cluster.Dispose();

    [Fact]
    public async Task A_node_with_a_token_gets_a_letter_a_certificate_and_a_seat_as_learner()
    {
        var request = TestCluster.Request(await _cluster.CreateTokenAsync());
        var answer = await _cluster.AdmitAsync(request);
        Assert.Equal((TestAuthority.ClusterId, "home", "B"), (answer.ClusterId, answer.ClusterName, answer.Tag));
        Assert.Equal("pi-1", Assert.Single(answer.Members).Name);
        using var certificate = X509CertificateLoader.LoadCertificate(answer.Certificate);
        Assert.Equal(request.NodeId, _cluster.Identity.PeerRule.Judge(certificate, PeerRole.Client).NodeId);
        Assert.True(certificate.MatchesHostname("192.168.1.6"));
        Assert.Equal(Members.IdOf(request.NodeId), Assert.Single(_cluster.RecordStore.Learners));
        var member = Assert
            .Single(
                MemberRecord.All(_cluster.RecordStore),
                member => string.Equals(member.NodeId, request.NodeId, StringComparison.Ordinal)
            )
            .Record;
        Assert.Equal(("B", "pi-2", TestAuthority.Now), (member.Tag, member.Name, member.Joined));
    }

    [Fact]
    public async Task A_version_older_than_the_clusters_format_is_not_admitted_and_keeps_its_token()
    {
        var request = TestCluster.Request(await _cluster.CreateTokenAsync());
        await _cluster.RecordStore.ChangeAsync(
            [
                new RecordChange(
                    FormatLevel.RecordKey,
                    new FormatLevel(Level: 2, "0.9.2").ToRecord(),
                    ExpectedVersion: null
                ),
            ],
            CancellationToken.None
        );
        Assert.Equal(
            "The cluster is written at format level 2, which the program of pi-2 does not know: install "
                + "version 0.9.2 or a newer one on it, and try again with the same token.",
            (await _cluster.RefuseAsync(request)).Message
        );
        Assert.Equal("B", (await _cluster.AdmitAsync(request with { NewestFormatLevel = 2 })).Tag);
    }

    [Fact]
    public async Task Two_concurrent_joins_get_different_letters()
    {
        var first = TestCluster.Request(await _cluster.CreateTokenAsync());
        var second = TestCluster.Request(await _cluster.CreateTokenAsync(), "pi-3");
        JoinAnswer? other = null;
        _cluster.RecordStore.BeforeChange = () => other = _cluster.AdmitAsync(second).GetAwaiter().GetResult();
        Assert.Equal("C", (await _cluster.AdmitAsync(first)).Tag);
        Assert.Equal("B", other!.Tag);
    }

    [Fact]
    public async Task A_node_that_lost_the_answer_asks_again_and_gets_the_same_seat()
    {
        var request = TestCluster.Request(await _cluster.CreateTokenAsync());
        _cluster.RecordStore.LearnerAnswers.Enqueue(ChangeAnswer.NotLeader);
        var (_, refusal) = await _cluster.Registrar.AdmitAsync(request, CancellationToken.None);
        Assert.Equal(JoinError.Unavailable, refusal!.Error);
        // The token has expired meanwhile, but the node already has its seat.
        _cluster.Time.Advance(TimeSpan.FromHours(2));
        Assert.Equal("B", (await _cluster.AdmitAsync(request)).Tag);
        Assert.Equal("B", (await _cluster.AdmitAsync(request)).Tag);
        Assert.Single(_cluster.RecordStore.Learners);
    }

    [Theory]
    [InlineData("my pi:9443")]
    [InlineData("https://192.168.1.6:9443")]
    [InlineData("192.168.1.6")]
    [InlineData("192.168.1.6:0")]
    [InlineData("192.168.1.6:9443\n")]
    [InlineData("fe80::6:9443")]
    [InlineData("")]
    [InlineData(null)]
    public async Task An_invalid_address_is_refused_in_a_request_and_dropped_from_a_record(string? address)
    {
        var request = TestCluster.Request(await _cluster.CreateTokenAsync());
        var refusal = await _cluster.RefuseAsync(request with { Addresses = ["192.168.1.6:9443", address!] });
        Assert.Equal(JoinError.Malformed, refusal.Error);
        Assert.EndsWith(
            "It looks like 192.168.1.12:9443, pi-2.lan:9443 or [fd00::2]:9443.",
            refusal.Message,
            StringComparison.Ordinal
        );
        await _cluster.AdmitAsync(request);
        var seat = new Seats(_cluster.RecordStore).Of(request.NodeId)!;
        Assert.Equal(
            request.Addresses,
            MemberRecord.Parse((seat with { Addresses = [.. request.Addresses, address!] }).ToJson())!.Addresses
        );
    }

    [Theory]
    [InlineData("")]
    [InlineData("pi-2.lan:8443")]
    [InlineData("https://pi-2.lan:8443/studio")]
    [InlineData("https://pi 2.lan:8443")]
    public async Task An_invalid_url_for_clients_is_refused(string url)
    {
        var refusal = await _cluster.RefuseAsync(
            TestCluster.Request(await _cluster.CreateTokenAsync()) with
            {
                PublicUrl = url,
            }
        );
        Assert.StartsWith("The node's URL for clients is not valid", refusal.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("addresses")]
    [InlineData("nodeId")]
    [InlineData("name")]
    [InlineData("secret")]
    [InlineData("certificateRequest")]
    public async Task A_request_with_null_in_a_required_field_is_malformed(string member)
    {
        var request = JsonSerializer.SerializeToNode(
            TestCluster.Request(await _cluster.CreateTokenAsync()),
            ClusterJson.Default.JoinRequest
        )!;
        Assert.NotNull(request[member]);
        request[member] = null;
        Assert.Null(
            ClusterJson.TryRead(Encoding.UTF8.GetBytes(request.ToJsonString()), ClusterJson.Default.JoinRequest)
        );
    }

    /// <summary>A leader that cannot catch up does not know whether the token exists.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task The_certificate_request_of_a_node_without_a_known_token_is_not_read(bool isLeader)
    {
        var caughtUp = new TaskCompletionSource<bool>();
        caughtUp.SetResult(false);
        var recordStore = new MemoryRecordStore { IsLeader = isLeader, CaughtUp = caughtUp };
        var registrar = new Registrar(() => _cluster.Identity, recordStore, _cluster.Time);
        var request = TestCluster.Request(await _cluster.CreateTokenAsync()) with { CertificateRequest = [] };
        var (_, refusal) = await registrar.AdmitAsync(request, CancellationToken.None);
        Assert.Equal(JoinError.Unavailable, refusal!.Error);
    }

    [Fact]
    public async Task A_follower_names_the_leader()
    {
        var request = TestCluster.Request(await _cluster.CreateTokenAsync());
        _cluster.RecordStore.IsLeader = false;
        Assert.Equal(JoinError.Unavailable, (await _cluster.RefuseAsync(request)).Error);
        _cluster.RecordStore.LeaderAddresses = ["192.168.1.9:9080"];
        var refusal = await _cluster.RefuseAsync(request);
        Assert.Equal((JoinError.NotLeader, "192.168.1.9:9080"), (refusal.Error, Assert.Single(refusal.Leader!)));
    }

    [Fact]
    public async Task An_unknown_token_is_refused()
    {
        var stranger = JoinToken.Create(TestAuthority.ClusterId, addresses: [], _cluster.Identity.Authorities[0]);
        var refusal = await _cluster.RefuseAsync(TestCluster.Request(stranger));
        Assert.Equal(JoinError.TokenUnknown, refusal.Error);
        Assert.Equal(
            "This cluster issued no such token, or the token expired long ago. Make another one with `rookery "
                + "cluster token create` on a member.",
            refusal.Message
        );

        // An unknown token is refused before the certificate request is checked.
        Assert.Equal(
            JoinError.TokenUnknown,
            (await _cluster.RefuseAsync(TestCluster.Request(stranger) with { CertificateRequest = [1] })).Error
        );
    }

    [Fact]
    public async Task An_expired_token_is_refused()
    {
        var token = await _cluster.CreateTokenAsync();
        _cluster.Time.Advance(TimeSpan.FromMinutes(61));
        var refusal = await _cluster.RefuseAsync(TestCluster.Request(token));
        Assert.Equal(JoinError.TokenExpired, refusal.Error);
        Assert.Equal(
            "The token expired on 2026-11-21 13:00 UTC. Make another one with `rookery cluster token create` on "
                + "a member.",
            refusal.Message
        );
    }

    [Fact]
    public async Task A_token_admits_one_node_only()
    {
        var token = await _cluster.CreateTokenAsync();
        var first = TestCluster.Request(token);
        await _cluster.AdmitAsync(first);
        var refusal = await _cluster.RefuseAsync(TestCluster.Request(token, "pi-3"));
        Assert.Equal(JoinError.TokenUsed, refusal.Error);
        Assert.StartsWith(
            $"The token admitted node {first.Name} (B) on 2026-11-21 12:00 UTC, and each token admits one node.",
            refusal.Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task A_node_that_was_removed_does_not_come_back_by_its_old_token()
    {
        var request = TestCluster.Request(await _cluster.CreateTokenAsync());
        await _cluster.AdmitAsync(request);
        await _cluster.RecordStore.ChangeAsync(
            [new RecordChange(MemberRecord.KeyOf(request.NodeId), Value: null, ExpectedVersion: null)],
            CancellationToken.None
        );
        Assert.Equal(JoinError.TokenUsed, (await _cluster.RefuseAsync(request)).Error);
    }

    [Fact]
    public async Task A_token_is_valid_while_the_time_is_in_doubt()
    {
        var request = TestCluster.Request(await _cluster.CreateTokenAsync());
        _cluster.RecordStore.Clock = static () => new(TestAuthority.Now.AddYears(1).UtcTicks, IsSure: false);
        await _cluster.AdmitAsync(request);
    }

    [Theory]
    [InlineData("Pi-2")]
    [InlineData("")]
    [InlineData("pi 2")]
    [InlineData("-pi")]
    [InlineData("pi.example.org")]
    public async Task An_invalid_name_is_refused(string name)
    {
        var refusal = await _cluster.RefuseAsync(TestCluster.Request(await _cluster.CreateTokenAsync(), name));
        Assert.Equal(JoinError.NameInvalid, refusal.Error);
        Assert.EndsWith("Choose another name with --name.", refusal.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_name_of_another_member_is_refused()
    {
        var refusal = await _cluster.RefuseAsync(TestCluster.Request(await _cluster.CreateTokenAsync(), "pi-1"));
        Assert.Equal(JoinError.NameTaken, refusal.Error);
        Assert.Contains(
            "Choose another name with --name; if that node is gone for good, remove it first with `rookery "
                + "cluster node rm pi-1`.",
            refusal.Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task A_copy_of_a_member_with_another_key_is_refused()
    {
        var first = TestCluster.Request(await _cluster.CreateTokenAsync());
        await _cluster.AdmitAsync(first);
        var copy = TestCluster.Request(await _cluster.CreateTokenAsync()) with { NodeId = first.NodeId };
        var refusal = await _cluster.RefuseAsync(copy);
        Assert.Equal(JoinError.IdTaken, refusal.Error);
        Assert.Contains(
            $"Let it join with an empty data directory, and remove the old one with `rookery cluster node rm "
                + $"{first.Name}`.",
            refusal.Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task A_request_that_is_not_signed_by_the_key_it_names_is_refused()
    {
        var request = TestCluster.Request(await _cluster.CreateTokenAsync());
        // The last bytes are its signature.
        request.CertificateRequest[^1] ^= 1;
        Assert.Equal(JoinError.Malformed, (await _cluster.RefuseAsync(request)).Error);
    }

    [Fact]
    public async Task A_cluster_has_as_many_seats_as_there_are_letters()
    {
        // The first member has the letter A.
        for (int i = 2; i <= 26; i++)
        {
            await _cluster.AdmitAsync(TestCluster.Request(await _cluster.CreateTokenAsync(), $"pi-{i}"));
        }

        Assert.Equal(
            JoinError.TooManyMembers,
            (await _cluster.RefuseAsync(TestCluster.Request(await _cluster.CreateTokenAsync(), "pi-27"))).Error
        );
    }
}
