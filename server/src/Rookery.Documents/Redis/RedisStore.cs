using Rookery.Documents.Databases;

namespace Rookery.Documents.Redis;

/// <summary>The documents that a command of Redis reads and writes: of the log, or of a snapshot.</summary>
internal abstract class RedisStore
{
    /// <summary>The present time, from which relative times to live count, in UTC ticks.</summary>
    public long NowTicks { get; protected set; }

    /// <summary>
    /// A key that expires at or before this time is absent, in UTC ticks. Equals <see cref="NowTicks"/> unless the
    /// time is in doubt.
    /// </summary>
    public long ExpiryTicks { get; protected set; }

    /// <summary>A seed for random choices, the same on all members.</summary>
    public virtual long Seed => NowTicks;

    /// <summary>Whether the commands may walk over all keys.</summary>
    public abstract bool CanWalk { get; }

    /// <summary>Finds a document, expired or not.</summary>
    public abstract Document Find(ReadOnlySpan<byte> lowerId);

    /// <summary>Stores the content as the new version of the target's document.</summary>
    public abstract void Put(RedisTarget target, RedisContent content);

    /// <summary>
    /// Stores the content as a new document, which gets no attachments or counters of a stored one.
    /// </summary>
    public abstract void Replace(RedisTarget target, RedisContent content);

    /// <summary>Deletes the target's document.</summary>
    public abstract void Delete(RedisTarget target);

    /// <summary>Counts work that takes as long as copying a number of bytes.</summary>
    /// <exception cref="RedisLimitException">The command takes more work than a command may.</exception>
    public abstract void Spend(long bytes);

    /// <summary>Returns the number of documents.</summary>
    public abstract long CountDocuments();

    /// <summary>Returns whether a document is absent because it expired.</summary>
    /// <param name="expiresAtTicks">When it expires, in UTC ticks; 0 for never.</param>
    public bool HasExpired(long expiresAtTicks) => Expiry.HasPassed(expiresAtTicks, ExpiryTicks);
}
