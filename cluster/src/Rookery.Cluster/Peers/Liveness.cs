namespace Rookery.Cluster.Peers;

/// <summary>
/// Whether the other end of a connection still lives. The dialler asks in regular intervals and expects an answer; the
/// other end expects to be asked. TCP alone would notice the loss of a peer's power after a quarter of an hour.
/// </summary>
/// <param name="time">The clock.</param>
/// <param name="kind">What the connection is for: behind frames an answer may take longer.</param>
/// <param name="asks">Whether this end asks.</param>
internal sealed class Liveness(TimeProvider time, LinkKind kind, bool asks)
{
    private readonly TimeSpan _interval = kind == LinkKind.Control ? TimeSpan.FromSeconds(1) : TimeSpan.FromSeconds(5);
    private long _sign = time.GetTimestamp();
    private long _asked;
    private long _answered;

    /// <summary>
    /// The newest question that was answered: the timestamp of when it was asked, 0 for none. Its program ran after
    /// that, whereas bytes come for long after it was killed.
    /// </summary>
    public long Answered => Volatile.Read(ref _answered);

    /// <summary>
    /// How long it may be silent: 3 s of twelve heartbeats, or 15 s in which 4 MiB of kernel buffers drain at 280 KB/s;
    /// thrice as long for the end that does not ask.
    /// </summary>
    public TimeSpan Limit => _interval * (asks ? 3 : 9);

    /// <summary>A byte came, or the other end took some after we had to wait for that.</summary>
    public void Lives() => Volatile.Write(ref _sign, time.GetTimestamp());

    /// <summary>A byte came: what was asked is answered.</summary>
    public void Answers()
    {
        Volatile.Write(ref _asked, 0);
        Lives();
    }

    /// <summary>The answer to a question came.</summary>
    /// <param name="question">What the answer repeats; 0 for nothing.</param>
    public void Answers(long question)
    {
        if (question <= time.GetTimestamp())
        {
            Volatile.Write(ref _answered, Math.Max(question, Volatile.Read(ref _answered)));
        }
    }

    /// <summary>Whether it has been silent for too long. Called every second.</summary>
    public bool IsDead()
    {
        long since = Volatile.Read(ref _sign);
        if (!asks)
        {
            return time.GetElapsedTime(since) > Limit;
        }

        long question = Volatile.Read(ref _asked);
        return question != 0 && time.GetElapsedTime(Math.Max(question, since)) > Limit;
    }

    /// <summary>Whether to ask now; if so, an answer is expected from here on.</summary>
    /// <param name="anyway">Also when it was heard just now, or was asked already.</param>
    /// <returns>The question, a timestamp, which the answer repeats; 0 for none.</returns>
    public long Ask(bool anyway)
    {
        bool isDue =
            Volatile.Read(ref _asked) == 0
            && time.GetElapsedTime(Volatile.Read(ref _sign)) >= _interval - TimeSpan.FromMilliseconds(100);
        if (!asks || (!isDue && !anyway))
        {
            return 0;
        }

        long question = Math.Max(1, time.GetTimestamp());
        Interlocked.CompareExchange(ref _asked, question, 0);
        return question;
    }
}
