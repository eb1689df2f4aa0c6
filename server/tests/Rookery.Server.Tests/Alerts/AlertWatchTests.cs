using Microsoft.Extensions.Logging.Abstractions;
using Rookery.Board;
using Rookery.Documents.Consensus;
using Rookery.Platform;
using Rookery.Server.Alerts;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Alerts;

/// <summary>
/// The evaluation of a node's alerts every ten seconds. A condition becomes an alert after it held for the alert's
/// period, and the alert ends after the condition did not hold for a while.
/// </summary>
public sealed class AlertWatchTests : IDisposable
{
    private readonly SimulatedTimeProvider _time = new();
    private readonly AlertWatch _watch;
    private readonly RecordedLog _log = new();
    private AlertFacts? _facts;
    private int _changes;

    public AlertWatchTests()
    {
        _facts = HealthyFacts();
        _watch = new AlertWatch(() => _facts, _time, _log) { Changed = () => _changes++ };
    }

    public void Dispose() => _watch.Dispose();

    [Fact]
    public void An_alert_becomes_active_after_its_period_and_is_logged_once_with_figures()
    {
        _facts = HealthyFacts() with { Space = new ReserveState(FreeBytes: 300 << 20, NeededBytes: 256 << 20) };
        AdvanceMinutes(9);
        Assert.Empty(_watch.Active);

        AdvanceMinutes(2);
        var alert = Assert.Single(_watch.Active);
        Assert.Equal(
            ("disk_low", AlertSeverity.Warning, "/help/reference/alerts.md#disk_low"),
            (alert.Name, alert.Severity, alert.Help)
        );
        Assert.Equal("This node's card has 300 MiB free; at 256 MiB writes that add data are refused.", alert.Sentence);
        Assert.Equal(new DateTimeOffset(2026, 1, 1, 0, 0, 10, TimeSpan.Zero), alert.Since);

        AdvanceMinutes(60);
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
    public void Each_member_that_is_down_has_an_alert_of_its_own()
    {
        // B is down at first, then C too, and at last only C.
        ConsensusStatistics StatisticsOfLeader(params string[] down) =>
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
                        new ClusterViewMember(
                            tag,
                            tag,
                            "pi-" + tag,
                            Urls: [],
                            PublicUrl: null,
                            IsVoter: true,
                            IsLeader: tag is "A",
                            IsSelf: tag is "A"
                        ),
                        RecordVersion: 1,
                        IsReachable: !down.Contains(tag),
                        LagEntries: 0,
                        SyncMicroseconds: null
                    )),
                ]
            );
        _facts = HealthyFacts() with { Cluster = StatisticsOfLeader("B") };
        AdvanceMinutes(6);
        Assert.Equal(("member_down", "B"), (Assert.Single(_watch.Active).Name, _watch.Active[0].Member));
        _facts = HealthyFacts() with { Cluster = StatisticsOfLeader("B", "C") };
        AdvanceMinutes(6);
        Assert.Equal(
            ["B", "C"],
            _watch.Active.Where(static alert => alert.Name is "member_down").Select(static alert => alert.Member)
        );
        Assert.NotEqual(_watch.Active[^1].Since, _watch.Active[^2].Since);
        _facts = HealthyFacts() with { Cluster = StatisticsOfLeader("C") };
        AdvanceMinutes(1);
        Assert.Equal(
            ["C"],
            _watch.Active.Where(static alert => alert.Name is "member_down").Select(static alert => alert.Member)
        );
    }

    [Fact]
    public void Figures_are_updated_while_an_alert_holds()
    {
        _facts = HealthyFacts() with { Space = new ReserveState(FreeBytes: 300 << 20, NeededBytes: 256 << 20) };
        AdvanceMinutes(11);
        _facts = HealthyFacts() with { Space = new ReserveState(FreeBytes: 290 << 20, NeededBytes: 256 << 20) };
        AdvanceMinutes(1);
        Assert.Contains("290 MiB free", Assert.Single(_watch.Active).Sentence, StringComparison.Ordinal);
    }

    [Fact]
    public void A_condition_that_ends_within_its_period_is_not_reported()
    {
        _facts = HealthyFacts() with { Space = new ReserveState(FreeBytes: 300 << 20, NeededBytes: 256 << 20) };
        AdvanceMinutes(9);
        _facts = HealthyFacts();
        AdvanceMinutes(1);
        _facts = HealthyFacts() with { Space = new ReserveState(FreeBytes: 300 << 20, NeededBytes: 256 << 20) };
        AdvanceMinutes(9);
        Assert.Empty(_watch.Active);
        Assert.Equal(0, _changes);
    }

    [Fact]
    public void A_condition_that_recurs_before_its_alert_ends_is_one_alert()
    {
        var under = HealthyFacts() with
        {
            Board = new BoardReading { KnownFlags = Throttling.All, Now = Throttling.UnderVoltage },
        };
        _facts = under;
        AdvanceMinutes(1);
        Assert.Equal("under_voltage", Assert.Single(_watch.Active).Name);
        for (int i = 0; i < 10; i++)
        {
            _facts = HealthyFacts();
            AdvanceMinutes(14);
            _facts = under;
            AdvanceMinutes(1);
        }

        Assert.Equal(1, _changes);
        _facts = HealthyFacts();
        AdvanceMinutes(16);
        Assert.Empty(_watch.Active);
        Assert.Equal(2, _changes);
    }

    [Fact]
    public void An_active_alert_says_when_its_condition_no_longer_holds()
    {
        _facts = HealthyFacts() with { Space = new ReserveState(FreeBytes: 136 << 20, NeededBytes: 256 << 20) };
        AdvanceMinutes(2);
        Assert.Equal(
            ("disk_full", AlertSeverity.Critical),
            (Assert.Single(_watch.Active).Name, _watch.Active[0].Severity)
        );
        _facts = HealthyFacts();
        AdvanceMinutes(1);
        var lingering = Assert.Single(_watch.Active);
        Assert.Equal(AlertSeverity.Warning, lingering.Severity);
        Assert.Equal(
            "The condition no longer holds. The alert ends if the condition stays absent for 5 min 0 s. "
                + "It was: Nothing new can be "
                + "written: this node's card is full; it has 136 MiB free, less than its reserve of 256 MiB.",
            lingering.Sentence
        );
        AdvanceMinutes(5);
        Assert.Empty(_watch.Active);
    }

    [Fact]
    public void Unknown_facts_raise_no_alert()
    {
        _facts = new AlertFacts { Now = _time.GetUtcNow() };
        AdvanceMinutes(120);
        Assert.Empty(_watch.Active);
    }

    [Fact]
    public void Active_alerts_stay_while_the_node_stops()
    {
        _facts = HealthyFacts() with { DamagedPlaces = 2 };
        AdvanceMinutes(1);
        _facts = null;
        AdvanceMinutes(60);
        Assert.Equal("This node found 2 damaged places on its card.", Assert.Single(_watch.Active).Sentence);
    }

    [Fact]
    public void A_failed_reading_does_not_stop_the_evaluation()
    {
        bool fails = false;
        using var watch = new AlertWatch(
            () => fails ? throw new IOException("no answer") : HealthyFacts() with { DamagedPlaces = 1 },
            _time,
            NullLogger.Instance
        );
        AdvanceMinutes(1);
        fails = true;
        AdvanceMinutes(1);
        Assert.Single(watch.Active);
    }

    /// <summary>An unhandled exception on a timer's thread would end the process.</summary>
    [Fact]
    public void A_fault_of_the_node_is_logged_once_and_does_not_stop_the_evaluation()
    {
        bool fails = true;
        using var watch = new AlertWatch(
            () => fails ? throw new FormatException("odd") : HealthyFacts() with { DamagedPlaces = 1 },
            _time,
            _log
        );
        AdvanceMinutes(1);
        Assert.Single(_log.Lines);
        fails = false;
        AdvanceMinutes(1);
        Assert.Single(watch.Active);
    }

    private static AlertFacts HealthyFacts() =>
        new()
        {
            Now = new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero),
            Space = new ReserveState(FreeBytes: 8L << 30, NeededBytes: 256 << 20),
        };

    private void AdvanceMinutes(int minutes) => _time.Advance(TimeSpan.FromMinutes(minutes));
}
