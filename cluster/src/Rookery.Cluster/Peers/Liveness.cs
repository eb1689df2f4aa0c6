namespace Rookery.Cluster.Peers;

/// <summary>
/// Detects that the other end of a connection is gone. The dialler pings at intervals and expects a pong; the other end
/// expects pings. TCP alone would notice a peer's loss of power only after a quarter of an hour.
/// </summary>
/// <param name="time">The clock.</param>
/// <param name="kind">The kind of the connection. On a bulk connection an answer may take longer, after large
/// frames.</param>
/// <param name="pings">Whether this end pings: it dialled.</param>
internal sealed class Liveness(TimeProvider time, LinkKind kind, bool pings)
{
    private readonly TimeSpan _interval = kind == LinkKind.Control ? TimeSpan.FromSeconds(1) : TimeSpan.FromSeconds(5);
    private long _sign = time.GetTimestamp();
    private long _asked;
    private long _answered;

    /// <summary>
    /// The newest ping that was answered, as the timestamp of sending; 0 for none. It proves that the other process ran
    /// after that time. Other bytes do not: they arrive for long after it was killed.
    /// </summary>
    public long Answered => Volatile.Read(ref _answered);

    /// <summary>
    /// The longest permitted silence. For the end that pings, 3 s on a control connection (12 heartbeats), and 15 s on
    /// a bulk connection, in which 4 MiB of kernel buffers drain at 280 KB/s. Three times as long for the other end.
    /// </summary>
    public TimeSpan Limit => _interval * (pings ? 3 : 9);

    /// <summary>
    /// Records a sign of life: a byte arrived, or the other end accepted bytes after a send had to wait.
    /// </summary>
    public void RecordSignOfLife() => Volatile.Write(ref _sign, time.GetTimestamp());

    /// <summary>Records that a packet arrived, which also counts as the answer to an open ping.</summary>
    public void RecordPacket()
    {
        Volatile.Write(ref _asked, 0);
        RecordSignOfLife();
    }

    /// <summary>Records a pong.</summary>
    /// <param name="question">The question that the pong repeats; 0 for none.</param>
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
        long since = Volatile.Read(ref _sign);
        if (!pings)
        {
            return time.GetElapsedTime(since) > Limit;
        }

        long question = Volatile.Read(ref _asked);
        return question != 0 && time.GetElapsedTime(Math.Max(question, since)) > Limit;
    }

    /// <summary>Returns the question of a ping to send now. An answer is expected from then on.</summary>
    /// <param name="always">Whether to ping even if the other end was just heard, a ping is open, or this end usually
    /// does not ping.</param>
    /// <returns>The question, a timestamp, which the pong repeats; 0 when no ping is due.</returns>
    public long TakeDuePing(bool always)
    {
        bool isDue =
            pings
            && Volatile.Read(ref _asked) == 0
            && time.GetElapsedTime(Volatile.Read(ref _sign)) >= _interval - TimeSpan.FromMilliseconds(100);
        if (!isDue && !always)
        {
            return 0;
        }

        long question = Math.Max(1, time.GetTimestamp());
        Interlocked.CompareExchange(ref _asked, question, 0);
        return question;
    }
}
