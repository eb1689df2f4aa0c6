namespace Rookery.Documents.Databases;

/// <summary>Compares times of expiry. Times are UTC ticks.</summary>
public static class Expiry
{
    /// <summary>
    /// Returns whether a document or compare-exchange value has expired. A caller that checks many of them reads the
    /// current time once.
    /// </summary>
    /// <param name="expiresAtTicks">The time at which the document or value expires; 0 for never.</param>
    /// <param name="nowTicks">The current time, for compare-exchange values that of the log
    /// (<see cref="DatabaseReader.ReadExpiryTicks"/>). 0 if it is unknown: then nothing has expired.</param>
    public static bool HasPassed(long expiresAtTicks, long nowTicks) =>
        expiresAtTicks != 0 && expiresAtTicks <= nowTicks;
}
