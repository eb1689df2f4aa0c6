namespace Rookery.Cluster.Peers;

/// <summary>
/// Whether the other end of a connection still lives. The dialler asks in regular intervals and expects an answer; the other end expects to be asked. TCP alone would notice the loss of a
/// peer's power after a quarter of an hour.
/// </summary>
/// <param name="time">The clock.</param>
/// <param name="kind">What the connection is for: behind frames an answer may take longer.</param>
/// <param name="asks">Whether this end asks.</param>
internal sealed class Liveness(TimeProvider time, LinkKind kind, bool asks)
{
    private readonly TimeSpan interval = kind == LinkKind.Control ? TimeSpan.FromSeconds(1) : TimeSpan.FromSeconds(5);
    private long sign = time.GetTimestamp();
    private long asked;

    /// <summary>The last sign of life: a timestamp.</summary>
    public long LastSign => Volatile.Read(ref sign);

    /// <summary>How long it may be silent: 3 s of twelve heartbeats, or 15 s in which 4 MiB of kernel buffers drain at 280 KB/s; thrice as long for the end that does not ask.</summary>
    public TimeSpan Limit => interval * (asks ? 3 : 9);

    /// <summary>A byte came, or the other end took some after we had to wait for that.</summary>
    public void Lives() => Volatile.Write(ref sign, time.GetTimestamp());

    /// <summary>A byte came: what was asked is answered.</summary>
    public void Answers()
    {
        Volatile.Write(ref asked, 0);
        Lives();
    }

    /// <summary>Whether it has been silent for too long. Called every second.</summary>
    public bool IsDead()
    {
        long since = Volatile.Read(ref sign);
        if (!asks)
        {
            return time.GetElapsedTime(since) > Limit;
        }

        long question = Volatile.Read(ref asked);
        return question != 0 && time.GetElapsedTime(Math.Max(question, since)) > Limit;
    }

    /// <summary>Whether to ask now; if so, the answer is expected from here on.</summary>
    public bool ShouldAsk()
    {
        if (!asks || Volatile.Read(ref asked) != 0 || time.GetElapsedTime(Volatile.Read(ref sign)) < interval - TimeSpan.FromMilliseconds(100))
        {
            return false;
        }

        Volatile.Write(ref asked, Math.Max(1, time.GetTimestamp()));
        return true;
    }
}
