namespace Rookery.Cluster.Peers;

/// <summary>
/// Detects that the other end of a connection is gone. The dialler pings at intervals and expects pongs; the other end
/// expects pings. TCP alone would detect a peer's loss of power only after a quarter of an hour.
/// </summary>
/// <param name="time">The clock.</param>
/// <param name="kind">The kind of the connection. On a bulk connection the limits are longer, because large frames
/// delay answers.</param>
/// <param name="pings">Whether this end dialled, and therefore pings.</param>
internal sealed class Liveness(TimeProvider time, LinkKind kind, bool pings)
{
    private readonly TimeSpan _interval = kind == LinkKind.Control ? TimeSpan.FromSeconds(1) : TimeSpan.FromSeconds(5);
    private long _lastSignOfLife = time.GetTimestamp();
    private long _openPing;
    private long _answered;

    /// <summary>
    /// When the newest answered ping was sent, as a timestamp; 0 for none. The answer proves that the other process ran
    /// after that time. Other bytes do not, because the kernel may send them long after the process was killed.
    /// </summary>
    public long Answered => Volatile.Read(ref _answered);

    /// <summary>
    /// The longest permitted silence. For the end that pings: 3 s on a control connection (12 heartbeats), 15 s on a
    /// bulk connection. In 15 s, 4 MiB of kernel buffers drain at 280 KB/s. Three times as long for the other end.
    /// </summary>
    public TimeSpan Limit => _interval * (pings ? 3 : 9);

    /// <summary>
    /// Records that the other end lives: a byte arrived, or the other end accepted bytes after a send had to wait.
    /// </summary>
    public void RecordSignOfLife() => Volatile.Write(ref _lastSignOfLife, time.GetTimestamp());

    /// <summary>Records that a packet arrived, which also counts as the answer to an open ping.</summary>
    public void RecordPacket()
    {
        Volatile.Write(ref _openPing, 0);
        RecordSignOfLife();
    }

    /// <summary>Records a pong.</summary>
    /// <param name="question">The timestamp that the pong repeats from its ping; 0 for none.</param>
    public void RecordPong(long question)
    {
        if (question <= time.GetTimestamp())
        {
            Volatile.Write(ref _answered, Math.Max(question, Volatile.Read(ref _answered)));
        }
    }

    /// <summary>Whether the silence exceeds <see cref="Limit"/>. Called every second.</summary>
    public bool IsDead()
    {
        long since = Volatile.Read(ref _lastSignOfLife);
        if (!pings)
        {
            return time.GetElapsedTime(since) > Limit;
        }

        long question = Volatile.Read(ref _openPing);
        return question != 0 && time.GetElapsedTime(Math.Max(question, since)) > Limit;
    }

    /// <summary>Returns the timestamp to send in a ping now, and begins to expect its answer.</summary>
    /// <param name="always">Whether to ping even if bytes just arrived, a ping is unanswered, or this end usually does
    /// not ping.</param>
    /// <returns>The timestamp, which the pong repeats; 0 when no ping is due.</returns>
    public long TakeDuePing(bool always)
    {
        // Up to 100 ms early, because the caller's timer fires once a second, and may fire early.
        bool isDue =
            pings
            && Volatile.Read(ref _openPing) == 0
            && time.GetElapsedTime(Volatile.Read(ref _lastSignOfLife)) >= _interval - TimeSpan.FromMilliseconds(100);
        if (!isDue && !always)
        {
            return 0;
        }

        long question = Math.Max(1, time.GetTimestamp());
        Interlocked.CompareExchange(ref _openPing, question, 0);
        return question;
    }
}
