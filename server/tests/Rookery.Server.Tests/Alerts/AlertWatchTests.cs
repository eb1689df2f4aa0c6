using Microsoft.Extensions.Logging.Abstractions;
using Rookery.Board;
using Rookery.Documents.Consensus;
using Rookery.Platform;
using Rookery.Server.Alerts;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Alerts;

public sealed class AlertWatchTests : IDisposable
{
    private readonly SimulatedTimeProvider _time = new();
    private readonly AlertWatch _watch;
    private readonly RecordedLog _log = new();
    private AlertFacts? _facts;
    private int _changes;

    public AlertWatchTests()
    {
        _facts = Well();
        _watch = new AlertWatch(() => _facts, _time, _log) { Changed = () => _changes++ };
    }

    public void Dispose() => _watch.Dispose();

    [Fact]
    public void What_holds_for_as_long_as_its_definition_says_is_told_once_with_its_figures()
    {
        _facts = Well() with { Space = new ReserveState(300 << 20, 256 << 20) };
        Pass(minutes: 9);
        Assert.Empty(_watch.Active);

        Pass(minutes: 2);
        var alert = Assert.Single(_watch.Active);
        Assert.Equal(
            ("disk_low", AlertSeverity.Warning, "/help/reference/alerts.md#disk_low"),
            (alert.Name, alert.Severity, alert.Help)
        );
        Assert.Equal(
            "This node's card has 300 MiB free; at 256 MiB writes that grow the data are refused.",
            alert.Sentence
        );
        Assert.Equal(new DateTimeOffset(2026, 1, 1, 0, 0, 10, TimeSpan.Zero), alert.Since);

        Pass(minutes: 60);
        Assert.Single(_watch.Active);
        Assert.Equal(1, _changes);
        Assert.Single(_log.Lines);
        Assert.Contains(
            "Alert disk_low: This node's card has 300 MiB free",
            _log.Lines.Single(),
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void A_second_member_that_is_down_is_an_alert_of_its_own()
    {
        ConsensusStatistics Led(params string[] down) =>
            new(
                "Leader",
                Term: 2,
                "A",
                LastIndex: 9,
                LastTerm: 2,
                CommitIndex: 9,
                AppliedIndex: 9,
                SyncMicroseconds: null,
                ElectionTimeoutMicroseconds: 1,
                Trouble: null,
                [
                    .. ((string[])["A", "B", "C", "D", "E"]).Select(tag => new MemberStatistics(
                        new ClusterViewMember(tag, tag, "pi-" + tag, [], null, IsVoter: true, tag is "A", tag is "A"),
                        1,
                        !down.Contains(tag),
                        LagEntries: 0,
                        SyncMicroseconds: null
                    )),
                ]
            );
        _facts = Well() with { Cluster = Led("B") };
        Pass(minutes: 6);
        Assert.Equal(("member_down", "B"), (Assert.Single(_watch.Active).Name, _watch.Active[0].Member));
        _facts = Well() with { Cluster = Led("B", "C") };
        Pass(minutes: 6);
        Assert.Equal(
            ["B", "C"],
            _watch.Active.Where(static alert => alert.Name is "member_down").Select(static alert => alert.Member)
        );
        Assert.NotEqual(_watch.Active[^1].Since, _watch.Active[^2].Since);
        _facts = Well() with { Cluster = Led("C") };
        Pass(minutes: 1);
        Assert.Equal(
            ["C"],
            _watch.Active.Where(static alert => alert.Name is "member_down").Select(static alert => alert.Member)
        );
    }

    [Fact]
    public void Figures_follow_while_an_alert_holds()
    {
        _facts = Well() with { Space = new ReserveState(300 << 20, 256 << 20) };
        Pass(minutes: 11);
        _facts = Well() with { Space = new ReserveState(290 << 20, 256 << 20) };
        Pass(minutes: 1);
        Assert.Contains("290 MiB free", Assert.Single(_watch.Active).Sentence, StringComparison.Ordinal);
    }

    [Fact]
    public void What_does_not_hold_long_enough_is_not_told()
    {
        _facts = Well() with { Space = new ReserveState(300 << 20, 256 << 20) };
        Pass(minutes: 9);
        _facts = Well();
        Pass(minutes: 1);
        _facts = Well() with { Space = new ReserveState(300 << 20, 256 << 20) };
        Pass(minutes: 9);
        Assert.Empty(_watch.Active);
        Assert.Equal(0, _changes);
    }

    [Fact]
    public void What_comes_and_goes_is_one_alert()
    {
        var under = Well() with
        {
            Board = new BoardReading { KnownFlags = Throttling.All, Now = Throttling.UnderVoltage },
        };
        _facts = under;
        Pass(minutes: 1);
        Assert.Equal("under_voltage", Assert.Single(_watch.Active).Name);
        for (int i = 0; i < 10; i++)
        {
            _facts = Well();
            Pass(minutes: 14);
            _facts = under;
            Pass(minutes: 1);
        }

        Assert.Equal(1, _changes);
        _facts = Well();
        Pass(minutes: 16);
        Assert.Empty(_watch.Active);
        Assert.Equal(2, _changes);
    }

    [Fact]
    public void An_alert_that_does_not_hold_any_more_says_so_before_it_is_over()
    {
        _facts = Well() with { Space = new ReserveState(136 << 20, 256 << 20) };
        Pass(minutes: 2);
        Assert.Equal(
            ("disk_full", AlertSeverity.Critical),
            (Assert.Single(_watch.Active).Name, _watch.Active[0].Severity)
        );
        _facts = Well();
        Pass(minutes: 1);
        var lingering = Assert.Single(_watch.Active);
        Assert.Equal(AlertSeverity.Warning, lingering.Severity);
        Assert.Equal(
            "It does not hold any more, and is over when it stays so for 5 min 0 s. It was: Nothing new can be "
                + "written: this node's card is full; it has 136 MiB free, and keeps 256 MiB in reserve.",
            lingering.Sentence
        );
        Pass(minutes: 5);
        Assert.Empty(_watch.Active);
    }

    [Fact]
    public void Of_what_is_not_known_nothing_is_said()
    {
        _facts = new AlertFacts { Now = _time.GetUtcNow() };
        Pass(minutes: 120);
        Assert.Empty(_watch.Active);
    }

    [Fact]
    public void While_a_node_stops_what_was_known_stays()
    {
        _facts = Well() with { DamagedPlaces = 2 };
        Pass(minutes: 1);
        _facts = null;
        Pass(minutes: 60);
        Assert.Equal("This node found 2 damaged places on its card.", Assert.Single(_watch.Active).Sentence);
    }

    [Fact]
    public void A_reading_that_fails_ends_nothing()
    {
        bool fails = false;
        using var watch = new AlertWatch(
            () => fails ? throw new IOException("no answer") : Well() with { DamagedPlaces = 1 },
            _time,
            NullLogger.Instance
        );
        Pass(minutes: 1);
        fails = true;
        Pass(minutes: 1);
        Assert.Single(watch.Active);
    }

    /// <summary>On a timer's thread what nobody catches ends the process.</summary>
    [Fact]
    public void A_fault_of_its_own_is_said_once_and_ends_nothing()
    {
        bool fails = true;
        using var watch = new AlertWatch(
            () => fails ? throw new FormatException("odd") : Well() with { DamagedPlaces = 1 },
            _time,
            _log
        );
        Pass(minutes: 1);
        Assert.Single(_log.Lines);
        fails = false;
        Pass(minutes: 1);
        Assert.Single(watch.Active);
    }

    private static AlertFacts Well() =>
        new()
        {
            Now = new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero),
            Space = new ReserveState(8L << 30, 256 << 20),
        };

    private void Pass(int minutes) => _time.Advance(TimeSpan.FromMinutes(minutes));
}
