using System.Net;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Cluster.Tests.Identity;
using Rookery.Documents.Nodes;
using Rookery.Raft;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Joining;

/// <summary>Joining over TLS on loopback.</summary>
public sealed class JoinClientTests : IAsyncLifetime, IDisposable
{
    private static readonly JoiningNode Node = new("pi-2", ["192.168.1.6:9080"], null);

    private readonly TestCluster _cluster = new();
    private readonly SimulatedDisk _disk = new("/data");
    private WebApplication _server = null!;
    private string _address = null!;

    public async Task InitializeAsync() => (_server, _address) = await ServeAsync(_cluster);

    public async Task DisposeAsync() => await _server.DisposeAsync();

    public void Dispose() => _cluster.Dispose();

    [Fact]
    public async Task A_fresh_node_joins_and_stores_its_identity()
    {
        var joined = await JoinAsync(await CreateTokenAsync());
        Assert.Equal(("home", "B", "pi-1"), (joined.ClusterName, joined.Tag, Assert.Single(joined.Members)));
        using var identity = IdentityDirectory.TryLoad(_disk, "/data")!;
        Assert.Equal(
            (TestAuthority.ClusterId, joined.NodeId, "pi-2", "B"),
            (identity.ClusterId, identity.NodeId, identity.NodeName, identity.Tag)
        );
        Assert.Equal(TestAuthority.NodeId, Assert.Single(identity.Peers).NodeId);
        using var authority = identity.OpenAuthority();
        Assert.Equal(_cluster.Identity.Authorities[0].RawData, authority.Certificate.RawData);
    }

    [Fact]
    public async Task Configured_addresses_are_kept_and_announced()
    {
        var configured = Node with
        {
            Addresses = ["pi-2.lan:9443", "192.168.1.6:9443"],
            HasConfiguredAddresses = true,
            PublicUrl = "https://pi-2.lan:8443",
        };
        await new JoinClient(await CreateTokenAsync(), configured, TimeProvider.System).JoinAsync(
            _disk,
            "/data",
            CancellationToken.None
        );
        using var loaded = IdentityDirectory.TryLoad(_disk, "/data")!;
        new IdentityKeeper(_disk, "/data", loaded).KeepPeers([]);
        using var identity = IdentityDirectory.TryLoad(_disk, "/data")!;
        Assert.Equal(configured.PublicUrl, identity.ConfiguredUrl);

        // Addresses that the node listens at come first, because they are current; loopback addresses come last.
        Assert.Equal(
            ["pi-2.lan:9443", "192.168.1.6:9443", "127.0.0.1:9080"],
            MemberFacts.AddressesOf(["127.0.0.1:9080"], identity.ConfiguredAddresses)
        );
        Assert.Equal(
            ["192.168.1.6:9443", "pi-2.lan:9443"],
            MemberFacts.AddressesOf(["192.168.1.6:9443"], identity.ConfiguredAddresses)
        );
    }

    [Fact]
    public async Task The_choice_of_a_mirror_survives_the_first_start()
    {
        await JoinAsync(await CreateTokenAsync());
        using var standby = IdentityDirectory.TryLoad(_disk, "/data")!;
        Assert.False(standby.IsMirror);
        JoinClient.ChooseMirror(_disk, "/data");
        using var chosen = IdentityDirectory.TryLoad(_disk, "/data")!;
        new IdentityKeeper(_disk, "/data", chosen).KeepPeers([]);
        using var mirror = IdentityDirectory.TryLoad(_disk, "/data")!;
        Assert.True(mirror.IsMirror);
    }

    [Fact]
    public async Task A_fresh_node_with_its_clock_in_1970_joins()
    {
        // The client reads no clock. Certificates of a cluster with correct clocks begin long after 1970.
        _cluster.Time.SetUtcNow(TestAuthority.Now.AddYears(30));
        Assert.Equal("B", (await JoinAsync(await CreateTokenAsync())).Tag);
    }

    [Fact]
    public async Task Another_cluster_at_the_address_never_sees_the_secret()
    {
        using var other = new TestCluster("b3RoZXJjbHVzdGVyb3RoZQ");
        var foreign = (await other.CreateTokenAsync()) with { Addresses = [_address] };
        var refused = await Assert.ThrowsAsync<JoinException>(() => JoinAsync(foreign));
        Assert.StartsWith(
            $"The node at {_address} does not belong to the token's cluster: its authority is "
                + $"another one. The secret was not sent.",
            refused.Message,
            StringComparison.Ordinal
        );
        Assert.Equal(0, JoinRequestsOf(_server));
    }

    [Fact]
    public async Task A_node_that_shows_the_authority_without_a_certificate_of_it_never_sees_the_secret()
    {
        // Any node can ask a member for the authority's certificate and show it.
        using var impostor = new TestCluster();
        await using var between = await ServeAsync(impostor, showing: _cluster)
            .ContinueWith(task => task.Result.Server, TaskScheduler.Default);
        var token = (await _cluster.CreateTokenAsync()) with { Addresses = [AddressOf(between)] };
        var refused = await Assert.ThrowsAsync<JoinException>(() => JoinAsync(token));
        Assert.Contains(
            "its certificate was not signed by the authority that it shows, so the secret was not sent.",
            refused.Message,
            StringComparison.Ordinal
        );
        Assert.Equal(0, JoinRequestsOf(between));
    }

    [Fact]
    public async Task A_refusal_of_the_cluster_is_passed_on_and_nothing_is_written()
    {
        var token = await CreateTokenAsync();
        _cluster.Time.Advance(TimeSpan.FromHours(1));
        var refused = await Assert.ThrowsAsync<JoinException>(() => JoinAsync(token));
        Assert.StartsWith("The token expired on", refused.Message, StringComparison.Ordinal);
        Assert.False(IdentityDirectory.ExistsIn(_disk, "/data"));
    }

    [Fact]
    public async Task A_directory_with_an_unfinished_join_is_used_only_to_repeat_the_join()
    {
        Assert.Null(JoinClient.WhyUnfinished(_disk, "/data"));
        var token = await CreateTokenAsync();
        await Assert.ThrowsAsync<JoinException>(() => JoinAsync(token with { Addresses = ["127.0.0.1:1"] }));
        Assert.Contains("Repeat that join", JoinClient.WhyUnfinished(_disk, "/data"), StringComparison.Ordinal);
        Assert.Contains("delete /data/joining;", JoinClient.WhyUnfinished(_disk, "/data"), StringComparison.Ordinal);
        Assert.Null(JoinClient.WhyNot(_disk, "/data", token));
        await JoinAsync(token);
        Assert.Null(JoinClient.WhyUnfinished(_disk, "/data"));
    }

    [Fact]
    public async Task A_directory_is_free_after_a_refusal_unless_an_earlier_request_may_have_been_admitted()
    {
        var token = await CreateTokenAsync();
        _cluster.Time.Advance(TimeSpan.FromHours(1));
        await Assert.ThrowsAsync<JoinException>(() => JoinAsync(token));
        Assert.Null(JoinClient.WhyUnfinished(_disk, "/data"));
        Assert.DoesNotContain("/data/joining", _disk.Files);

        // The request of this join may reach a member whose answer is lost, also in an earlier run of the command.
        await Assert.ThrowsAsync<JoinException>(() => JoinAsync(token with { Addresses = ["127.0.0.1:1"] }));
        await Assert.ThrowsAsync<JoinException>(() => JoinAsync(token));
        Assert.NotNull(JoinClient.WhyUnfinished(_disk, "/data"));
        var lost = new SimulatedDisk("/data");
        _server.Services.GetRequiredService<RequestCount>().AnswersToLose = 1;
        await Assert.ThrowsAsync<JoinException>(() =>
            new JoinClient(token, Node, TimeProvider.System).JoinAsync(lost, "/data", CancellationToken.None)
        );
        Assert.NotNull(JoinClient.WhyUnfinished(lost, "/data"));
    }

    [Fact]
    public async Task A_member_that_is_off_is_skipped_and_a_follower_refers_to_the_leader()
    {
        using var following = new TestCluster();
        following.RecordStore.IsLeader = false;
        following.RecordStore.LeaderAddresses = [_address];
        var (follower, followerAddress) = await ServeAsync(_cluster, answering: following);
        await using (follower)
        {
            var joined = await JoinAsync(
                (await CreateTokenAsync()) with
                {
                    Addresses = ["127.0.0.1:1", followerAddress],
                }
            );
            Assert.Equal("B", joined.Tag);
        }
    }

    [Fact]
    public async Task When_no_member_is_reachable_the_tried_addresses_are_named()
    {
        var token = (await CreateTokenAsync()) with { Addresses = ["127.0.0.1:1"] };
        var refused = await Assert.ThrowsAsync<JoinException>(() => JoinAsync(token));
        Assert.StartsWith(
            "No member of the cluster admitted the node. 127.0.0.1:1: Connection refused",
            refused.Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task A_node_whose_answer_was_lost_asks_again_with_the_same_id_and_joins()
    {
        var requests = _server.Services.GetRequiredService<RequestCount>();
        requests.AnswersToLose = 1;
        _cluster.RecordStore.LearnerAnswers.Enqueue(ChangeAnswer.NotLeader);
        _cluster.RecordStore.LearnerAnswers.Enqueue(ChangeAnswer.NotLeader);
        Assert.Equal("B", (await JoinAsync(await CreateTokenAsync())).Tag);
        Assert.Equal(3, requests.Joins);
        Assert.Equal(2, MemberRecord.All(_cluster.RecordStore).Count());
        Assert.Single(_cluster.RecordStore.Learners);
        Assert.DoesNotContain("/data/joining", _disk.Files);
    }

    [Fact]
    public async Task A_node_that_was_stopped_while_joining_gets_its_seat_when_the_join_is_repeated()
    {
        // The second join may use another token. The node keeps the name that is recorded in its seat.
        var first = await CreateTokenAsync();
        var second = await CreateTokenAsync();
        using var stopping = new CancellationTokenSource();
        var requests = _server.Services.GetRequiredService<RequestCount>();
        (requests.AnswersToLose, requests.AnswerLost) = (1, stopping.Cancel);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() =>
            new JoinClient(first, Node, TimeProvider.System).JoinAsync(_disk, "/data", stopping.Token)
        );
        Assert.Null(JoinClient.WhyNot(_disk, "/data", first));
        var again = new JoinClient(second, Node with { Name = "pi-two" }, TimeProvider.System);
        Assert.Equal(
            ("B", "pi-2"),
            await again.JoinAsync(_disk, "/data", CancellationToken.None) is { } joined
                ? (joined.Tag, joined.Name)
                : default
        );
        Assert.Equal(2, MemberRecord.All(_cluster.RecordStore).Count());
        using var identity = IdentityDirectory.TryLoad(_disk, "/data")!;
        Assert.Equal("pi-2", identity.NodeName);
        var stranger = new SimulatedDisk("/data");
        await Assert.ThrowsAsync<JoinException>(() =>
            new JoinClient(second, Node with { Name = "pi-3" }, TimeProvider.System).JoinAsync(
                stranger,
                "/data",
                CancellationToken.None
            )
        );
    }

    [Fact]
    public async Task Only_an_empty_data_directory_joins()
    {
        var token = await CreateTokenAsync();
        Assert.Null(JoinClient.WhyNot(_disk, "/data", token));
        Assert.Null(JoinClient.WhyNot(_disk, "/missing", token));

        _disk.WriteNew("/data/photo.jpg", "x"u8);
        Assert.StartsWith(
            "/data holds files that are not Rookery's, such as /data/photo.jpg",
            JoinClient.WhyNot(_disk, "/data", token),
            StringComparison.Ordinal
        );

        var single = new SimulatedDisk("/data");
        TestFormat.Write(single, "/data", new NodeIds("node", "cluster"));
        Assert.StartsWith(
            "/data holds the data of node node, and a node that joins receives the cluster's data instead. "
                + "Nothing was changed.",
            JoinClient.WhyNot(single, "/data", token),
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task A_member_of_this_cluster_does_not_join_again()
    {
        var token = await CreateTokenAsync();
        IdentityDirectory.Create(_disk, "/data", _cluster.Identity);
        Assert.StartsWith(
            "The node of /data is pi-1 of this cluster already: start it with `rookery serve`.",
            JoinClient.WhyNot(_disk, "/data", token),
            StringComparison.Ordinal
        );
    }

    private Task<JoinedCluster> JoinAsync(JoinToken token) =>
        new JoinClient(token, Node, TimeProvider.System).JoinAsync(_disk, "/data", CancellationToken.None);

    private async Task<JoinToken> CreateTokenAsync() =>
        (await _cluster.CreateTokenAsync()) with
        {
            Addresses = [_address],
        };

    private static int JoinRequestsOf(WebApplication server) =>
        server.Services.GetRequiredService<RequestCount>().Joins;

    private static string AddressOf(WebApplication server)
    {
        var bound = new Uri(
            server.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses.Single()
        );
        return $"127.0.0.1:{bound.Port}";
    }

    /// <summary>
    /// Starts a member's server.
    /// </summary>
    /// <param name="certificate">The cluster whose member's certificate it presents.</param>
    /// <param name="showing">The cluster whose authority it returns; null for the same one.</param>
    /// <param name="answering">The cluster that admits nodes; null for the same one.</param>
    internal static async Task<(WebApplication Server, string Address)> ServeAsync(
        TestCluster certificate,
        TestCluster? showing = null,
        TestCluster? answering = null
    )
    {
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        var count = new RequestCount();
        builder.Services.AddSingleton(count);
        builder
            .WebHost.UseKestrelCore()
            .UseKestrelHttpsConfiguration()
            .ConfigureKestrel(kestrel =>
                kestrel.Listen(
                    IPAddress.Loopback,
                    0,
                    endpoint => endpoint.UseHttps(certificate.Identity.CertificateWithKey())
                )
            );
        var built = builder.Build();
        var shown = new JoinRoutes((showing ?? certificate).Registrar);
        var joinRoutes = new JoinRoutes((answering ?? certificate).Registrar);
        built.Run(http =>
            http.Request.Path.Value switch
            {
                JoinRoutes.AuthorityPath => shown.ListAuthoritiesAsync(http),
                JoinRoutes.JoinPath => count.CountAndAnswerAsync(http, joinRoutes.JoinAsync),
                _ => Task.CompletedTask,
            }
        );
        await built.StartAsync();
        return (built, AddressOf(built));
    }

    private sealed class RequestCount
    {
        public int Joins { get; private set; }

        /// <summary>The number of next answers to lose.</summary>
        public int AnswersToLose { get; set; }

        /// <summary>Invoked when an answer was lost.</summary>
        public Action? AnswerLost { get; set; }

        public async Task CountAndAnswerAsync(HttpContext http, RequestDelegate next)
        {
            Joins++;
            if (AnswersToLose-- <= 0)
            {
                await next(http);
                return;
            }

            var answer = http.Response.Body;
            http.Response.Body = Stream.Null;
            await next(http);
            http.Response.Body = answer;
            AnswerLost?.Invoke();
            http.Abort();
        }
    }
}
