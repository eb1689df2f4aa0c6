using System.Net;
using Microsoft.AspNetCore.Builder;
using Rookery.Cluster.Forming;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Cluster.Tests.Identity;
using Rookery.Cluster.Tests.Joining;
using Rookery.Cluster.Tests.Simulation;
using Rookery.Documents.Nodes;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Forming;

/// <summary>A node that a founder admitted gives up its old identity and joins, over TLS on loopback.</summary>
public sealed class FormedJoinTests : IAsyncLifetime, IDisposable
{
    private const string Directory = "/data";

    private static readonly JoiningNode Node = new("pi-2", ["192.168.1.6:9080"], PublicUrl: null);

    private static readonly byte[] Secret = new byte[16];

    private readonly TestCluster _cluster = new();
    private WebApplication _server = null!;
    private string _address = null!;

    public async Task InitializeAsync() => (_server, _address) = await JoinClientTests.ServeAsync(_cluster);

    public async Task DisposeAsync() => await _server.DisposeAsync();

    public void Dispose() => _cluster.Dispose();

    [Fact]
    public void A_node_that_no_founder_admitted_has_no_join_to_continue() =>
        Assert.Null(FormedJoin.Find(new SimulatedDisk(Directory), Directory));

    [Fact]
    public async Task A_node_joins_after_a_power_cut_at_any_point_of_its_join()
    {
        string token = await CreateTokenAsync(_cluster, _address);
        int joined = 0,
            continued = 0;
        new CrashSearch { Points = 40, Runs = 1 }.Verify(
            _ =>
            {
                var disk = CreateAdmittedCard(token);
                int start = disk.OperationCount;
                ContinueJoin(disk);
                return (disk, (Start: start, Joined: disk.OperationCount));
            },
            (image, operations, operation) =>
            {
                if (operation < operations.Start)
                {
                    return;
                }

                if (FormedJoin.Find(image, Directory) is null)
                {
                    AssertJoined(image);
                    joined++;
                    return;
                }

                // Each repetition starts with a cluster that does not know the node.
                Assert.True(operation < operations.Joined, "a completed join survives the power cut");
                using var fresh = new TestCluster();
                var (server, address) = JoinClientTests.ServeAsync(fresh).GetAwaiter().GetResult();
                new FormingNote(FormingStep.Admitted)
                {
                    Name = "pi-2",
                    Token = CreateTokenAsync(fresh, address).GetAwaiter().GetResult(),
                }.Write(image, Directory);
                ContinueJoin(image);
                continued++;
                server.DisposeAsync().AsTask().GetAwaiter().GetResult();
            }
        );
        Assert.True(
            CrashSearch.IsReplay || continued > 10,
            $"{continued} cuts left a node that continues its join, {joined} one that has joined"
        );
        Assert.True(_cluster.Tokens.IsUsed(Secret));
    }

    [Fact]
    public async Task A_node_that_is_used_before_it_joins_keeps_its_data_and_does_not_join()
    {
        var disk = CreateAdmittedCard((await _cluster.CreateTokenAsync()).ToText());
        using (var file = disk.Open($"{Directory}/letters.txt", DiskOpen.CreateNew))
        {
            file.Write("x"u8, offset: 0);
        }

        Assert.Contains(
            "letters.txt is not a file of a node that was never used",
            Begin(disk, FormedJoin.Find(disk, Directory)!),
            StringComparison.Ordinal
        );
        Assert.Null(FormedJoin.Find(disk, Directory));
        Assert.Contains("the node did not join", FormingNote.Read(disk, Directory).Why, StringComparison.Ordinal);
        Assert.True(IdentityDirectory.ExistsIn(disk, Directory));
    }

    [Fact]
    public async Task A_node_whose_founder_is_gone_for_good_joins_another_cluster_with_a_token()
    {
        using var lostCluster = new TestCluster("goneclustergonecluster");
        var disk = CreateAdmittedCard(await CreateTokenAsync(lostCluster, "127.0.0.1:1"));
        var join = FormedJoin.Find(disk, Directory)!;
        Assert.Null(Begin(disk, join));
        await Assert.ThrowsAsync<JoinException>(() =>
            join.CompleteAsync(disk, Directory, addresses: [], Node, TimeProvider.System, CancellationToken.None)
        );
        Assert.Equal(["forming", "joining", "lock"], disk.List(Directory).Order(StringComparer.Ordinal));

        // `rookery cluster join` makes the same calls.
        Assert.True(JoinToken.TryParse(await CreateTokenAsync(_cluster, _address), out var token));
        Assert.Null(JoinClient.WhyNot(disk, Directory, token));
        await new JoinClient(token, Node, TimeProvider.System).JoinAsync(disk, Directory, CancellationToken.None);
        AssertJoined(disk);

        // A join that was already waiting must not continue with the old identity either.
        await join.CompleteAsync(disk, Directory, addresses: [], Node, TimeProvider.System, CancellationToken.None);
        AssertJoined(disk);
    }

    /// <summary>Issues a token of a cluster whose member listens at an address.</summary>
    private static async Task<string> CreateTokenAsync(TestCluster cluster, string address) =>
        (await cluster.Tokens.CreateAsync(Secret, [address], CancellationToken.None))!.ToText();

    /// <summary>Makes the disk of a node that a founder admitted and that still has its old identity.</summary>
    private static SimulatedDisk CreateAdmittedCard(string token)
    {
        var disk = new SimulatedDisk(Directory);
        using var founded = ClusterFounding.Found(
            NodeIds.Create(),
            new NodeNames("pi-2", "home", [IPAddress.Loopback]),
            addedNames: [],
            TestAuthority.Now
        );
        IdentityDirectory.Create(disk, Directory, founded);
        new FormingNote(FormingStep.Admitted) { Name = "pi-2", Token = token }.Write(disk, Directory);
        return disk;
    }

    private static string? Begin(SimulatedDisk disk, FormedJoin join) =>
        join.Begin(
            disk,
            new NodeOptions { DataDirectory = Directory },
            new MemoryBudget(16 << 20),
            SilentRecorder.Instance,
            TimeProvider.System
        );

    /// <summary>Continues a join like `serve` at each start.</summary>
    private static void ContinueJoin(SimulatedDisk disk)
    {
        var join = FormedJoin.Find(disk, Directory)!;
        Assert.Null(Begin(disk, join));
        join.CompleteAsync(disk, Directory, addresses: [], Node, TimeProvider.System, CancellationToken.None)
            .GetAwaiter()
            .GetResult();
        AssertJoined(disk);
    }

    private static void AssertJoined(SimulatedDisk disk)
    {
        Assert.Null(FormedJoin.Find(disk, Directory));
        using var identity = IdentityDirectory.TryLoad(disk, Directory)!;
        Assert.Equal(TestAuthority.ClusterId, identity.ClusterId);
        Assert.Equal(["cluster", "lock"], disk.List(Directory).Order(StringComparer.Ordinal));
    }
}
