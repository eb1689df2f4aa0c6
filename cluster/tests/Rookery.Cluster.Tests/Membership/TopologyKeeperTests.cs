using Rookery.Cluster.Joining;
using Rookery.Cluster.Membership;
using Rookery.Cluster.Tests.Joining;
using Rookery.Cluster.Tests.Peers;
using Rookery.Raft;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Membership;

public sealed class TopologyKeeperTests : IAsyncDisposable
{
    private readonly SimulatedTimeProvider _time = new();
    private readonly MemoryRecordStore _recordStore = new();
    private readonly TopologyKeeper _keeper;
    private LeaderView? _view = ViewOf("aaa");

    public TopologyKeeperTests() => _keeper = new TopologyKeeper(() => _view, _recordStore, Assert.Fail, _time);

    public ValueTask DisposeAsync() => _keeper.DisposeAsync();

    [Fact]
    public async Task The_leader_comes_first_and_nothing_is_written_twice()
    {
        var topology = await KeepAsync();
        Assert.Equal(["A", "B", "C"], topology.Members.Select(static member => member.Tag));
        Assert.True(topology.Members[0].IsLeader);
        long etag = topology.Etag;
        Assert.Equal(etag, (await KeepAsync()).Etag);
        Assert.Equal(1, _recordStore.Changes);

        _view = ViewOf("ccc") with { Term = 8 };
        topology = await KeepAsync();
        Assert.Equal(["C", "A", "B"], topology.Members.Select(static member => member.Tag));
        Assert.True(topology.Etag > etag);
    }

    [Fact]
    public async Task A_failure_is_logged_and_the_next_check_comes_a_second_later()
    {
        var log = new List<string>();
        Queue<Exception> failures = new([
            new InvalidOperationException("A reader is closed."),
            new TaskCanceledException("Another task was cancelled."),
            new IOException("The disk is gone."),
        ]);
        int reads = 0;
        await using var keeper = new TopologyKeeper(
            () => ++reads <= 3 ? throw failures.Dequeue() : _view,
            _recordStore,
            log.Add,
            _time
        );
        keeper.Start();
        await Eventually.HoldsAsync(
            () =>
            {
                _time.Advance(TimeSpan.FromSeconds(1));
                return _recordStore.Changes > 0;
            },
            "the keeper records the topology after the failures"
        );
        Assert.Equal(3, log.Count);
    }

    [Fact]
    public async Task Every_change_of_addresses_starts_and_voters_raises_the_etag()
    {
        long etag = (await KeepAsync()).Etag;
        foreach (
            var change in (Func<MemberRecord, MemberRecord>[])
                [
                    static record => record with { ClientUrls = ["http://10.0.0.9:8080"] },
                    static record => record with { PublicUrl = "https://b.example" },
                    static record => record with { StartNumber = 2 },
                ]
        )
        {
            _view = _view! with
            {
                Members =
                [
                    .. _view.Members.Select(entry =>
                        entry.NodeId is "bbb" ? entry with { Record = change(entry.Record) } : entry
                    ),
                ],
            };
            Assert.True((await KeepAsync()).Etag > etag);
            etag = (await KeepAsync()).Etag;
        }

        _view = _view! with
        {
            Configuration = Configuration.Of([Members.IdOf("aaa"), Members.IdOf("bbb")], learners: []),
        };
        Assert.Equal(2, (await KeepAsync()).Members.Count);
        Assert.True((await KeepAsync()).Etag > etag);
    }

    [Fact]
    public async Task A_member_that_goes_down_and_comes_back_raises_the_etag_each_time()
    {
        long etag = (await KeepAsync()).Etag;
        _time.Advance(TimeSpan.FromSeconds(10));
        _view = ViewOf("aaa", unheard: "ccc");
        var topology = await KeepAsync();
        Assert.Equal([true, true, false], topology.Members.Select(static member => member.IsUp));
        Assert.True(topology.Etag > etag);

        _view = ViewOf("aaa");
        Assert.False((await KeepAsync()).Members[2].IsUp); // health that flaps is not written each second
        _time.Advance(TimeSpan.FromSeconds(5));
        Assert.True((await KeepAsync()).Members[2].IsUp);
        Assert.True((await KeepAsync()).Etag > topology.Etag);
    }

    [Fact]
    public async Task A_new_leader_reports_no_member_down_before_that_member_had_time_to_answer()
    {
        _view = ViewOf("aaa", unheard: "ccc");
        Assert.All((await KeepAsync()).Members, static member => Assert.True(member.IsUp));
        _time.Advance(TimeSpan.FromSeconds(10));
        Assert.False((await KeepAsync()).Members[2].IsUp);

        _view = ViewOf("bbb", unheard: "aaa") with { Term = 8 };
        Assert.Equal(
            [("B", true), ("A", true), ("C", false)],
            (await KeepAsync()).Members.Select(static member => (member.Tag, member.IsUp))
        );
    }

    [Fact]
    public async Task Etags_exceed_those_of_a_node_that_was_alone_and_of_earlier_leaders()
    {
        _view = ViewOf("aaa") with { EtagBefore = 100 };
        Assert.True((await KeepAsync()).Etag > 100);
        long etag = (await KeepAsync()).Etag;
        _view = ViewOf("bbb") with { Term = 8, EtagBefore = 3 };
        Assert.True((await KeepAsync()).Etag > etag);
    }

    [Fact]
    public async Task A_former_leader_overwrites_no_newer_topology()
    {
        await KeepAsync();
        _view = ViewOf("bbb") with { Term = 8 };
        var newer = new TopologyRecord { Etag = 1000, Members = [] };
        _recordStore.BeforeChange = () =>
            _recordStore
                .ChangeAsync(
                    [new RecordChange(TopologyRecord.Key, newer.ToJson(), ExpectedVersion: null)],
                    CancellationToken.None
                )
                .AsTask()
                .Wait();
        Assert.Equal(1000, (await KeepAsync()).Etag);

        _view = null;
        Assert.Equal(1000, (await KeepAsync()).Etag);
    }

    /// <summary>Runs one check, and returns the recorded topology.</summary>
    private async Task<TopologyRecord> KeepAsync()
    {
        await _keeper.RecordChangesAsync(CancellationToken.None);
        return TopologyRecord.Parse(_recordStore.Find(TopologyRecord.Key)!.Value.Span)!;
    }

    /// <summary>Returns the view of the leader of three voters, aaa, bbb and ccc, whose tags are A, B and C.</summary>
    /// <param name="leader">The leader's id.</param>
    /// <param name="unheard">The id of a member that the leader does not hear; null for none.</param>
    private static LeaderView ViewOf(string leader, string? unheard = null)
    {
        string[] all = ["aaa", "bbb", "ccc"];
        return new LeaderView(
            Members.IdOf(leader),
            Term: 7,
            EtagBefore: 0,
            Configuration.Of(all.Select(Members.IdOf), learners: []),
            [.. all.Select(static (id, i) => new RosterEntry(id, RecordOf(i), i + 1))],
            all.Where(id => !string.Equals(id, unheard, StringComparison.Ordinal)).Select(Members.IdOf).ToHashSet(),
            TimeSpan.FromSeconds(1)
        );
    }

    private static MemberRecord RecordOf(int number) =>
        new()
        {
            Tag = ((char)('A' + number)).ToString(),
            Name = $"pi-{number + 1}",
            Addresses = [$"10.0.0.{number + 1}:9080"],
            ClientUrls = [$"http://10.0.0.{number + 1}:8080"],
            PublicKey = [],
            StartNumber = 1,
        };
}
