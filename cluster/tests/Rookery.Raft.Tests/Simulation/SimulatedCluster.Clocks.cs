namespace Rookery.Raft.Tests.Simulation;

/// <summary>
/// Clocks of boards without a battery: 1970 or 2080 after a start, or slightly off, until a time source is reached. One
/// member may have a wrong time source.
/// </summary>
internal sealed partial class SimulatedCluster
{
    // The true time at the start: any time that the program accepts as plausible.
    private static readonly long BeganTicks = new DateTime(2026, 11, 22).Ticks;

    public long TrueTicks => BeganTicks + (Now * TimeSpan.TicksPerMicrosecond);

    public ClockReading ClockOf(SimulatedNode node) => new(TrueTicks + node.Clock.AheadTicks, node.Clock.IsSure);

    private void PlanClocks() =>
        _events.Enqueue(
            () =>
            {
                if (!_isHealing)
                {
                    ChangeClock(_nodes[_clockRandom.Next(_nodes.Count)]);
                    PlanClocks();
                }
            },
            (Now + _clockRandom.NextInt64((long)(20 * Second / _profile.ClockFaults)), _order++)
        );

    // In half of the cases the clock loses the time. Otherwise it is synchronised, and at most 20 s off; if its time
    // source is wrong, decades.
    private void ChangeClock(SimulatedNode node)
    {
        if (_clockRandom.Next(2) == 0)
        {
            LoseClock(node);
        }
        else
        {
            long ahead =
                node == _nodeWithWrongTime ? BeganTicks : _clockRandom.NextInt64(-20, 20) * TimeSpan.TicksPerSecond;
            node.Clock = (ahead, true);
        }
    }

    // Sets an unsynchronised clock: usually to 1970, sometimes to 2080, or up to five minutes off.
    private void LoseClock(SimulatedNode node)
    {
        long ahead = _clockRandom.Next(4) switch
        {
            0 => new DateTime(2080, 1, 1).Ticks - BeganTicks,
            1 => _clockRandom.NextInt64(-300, 300) * TimeSpan.TicksPerSecond,
            _ => DateTime.UnixEpoch.Ticks - BeganTicks,
        };
        node.Clock = (ahead, false);
    }
}
