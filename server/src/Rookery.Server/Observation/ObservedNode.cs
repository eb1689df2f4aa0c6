using Rookery.Platform;
using Rookery.Server.Alerts;

namespace Rookery.Server.Observation;

/// <summary>
/// What this node remembers of a member, itself or another: 24 hours of its figures, its slow events, and its last
/// word. It stays when the member has died. Thread-safe.
/// </summary>
/// <param name="tag">Its letter.</param>
/// <param name="memory">What it is charged to.</param>
/// <param name="time">The clock.</param>
internal sealed class ObservedNode(string tag, MemoryShare memory, TimeProvider time)
{
    // An answer comes every ten seconds, or every second while somebody watches: then no answer for so long is a sign.
    private static readonly TimeSpan SilenceUnwatched = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan SilenceWatched = TimeSpan.FromSeconds(4);

    private readonly Lock _access = new();
    private MemberWord? _word;
    private long _heardAt;
    private bool _hasFailed;

    /// <summary>Its letter.</summary>
    public string Tag => tag;

    /// <summary>Its figures.</summary>
    public SampleHistory History { get; } = new(memory);

    /// <summary>Its slow disk events, as far as they were told.</summary>
    public SlowEvents Slow { get; } = new(memory);

    /// <summary>What it said last; null when it said nothing yet.</summary>
    public MemberWord? Word
    {
        get
        {
            lock (_access)
            {
                return _word;
            }
        }
    }

    /// <summary>Seconds since it answered; null when it did not yet.</summary>
    public double? SeenSeconds
    {
        get
        {
            lock (_access)
            {
                return _word is null ? null : time.GetElapsedTime(_heardAt).TotalSeconds;
            }
        }
    }

    /// <summary>It answered.</summary>
    public void Heard(MemberWord said)
    {
        lock (_access)
        {
            (_word, _heardAt, _hasFailed) = (said, time.GetTimestamp(), false);
        }
    }

    /// <summary>It did not.</summary>
    public void Failed()
    {
        lock (_access)
        {
            _hasFailed = true;
        }
    }

    /// <summary>Whether this node hears it; null before the first attempt has ended.</summary>
    /// <param name="watchedFor">For how long it has been asked every second.</param>
    public bool? IsHeard(TimeSpan watchedFor)
    {
        lock (_access)
        {
            return _hasFailed ? false
                : _word is null ? null
                : time.GetElapsedTime(_heardAt) < (watchedFor >= SilenceWatched ? SilenceWatched : SilenceUnwatched);
        }
    }
}

/// <summary>What a member said of itself last.</summary>
/// <param name="Sample">Its sample as it wrote it: a newer one may say more than this node knows.</param>
/// <param name="Reason">Why it does not serve; null when it does.</param>
/// <param name="Sight">How it sees the cluster; null when it has no data open.</param>
/// <param name="Alerts">What its owner should know.</param>
/// <param name="Uptime">Since when its process runs; null when it does not say.</param>
internal sealed record MemberWord(
    byte[] Sample,
    string? Reason,
    ClusterSight? Sight,
    IReadOnlyList<MemberAlert> Alerts,
    TimeSpan? Uptime
);
