namespace Rookery.Documents.Databases;

/// <summary>Compares times of expiry. Times are UTC ticks.</summary>
public static class Expiry
{
    /// <summary>
    /// Returns whether a document or compare-exchange value has expired. Read the present time once for many values.
    /// </summary>
    /// <param name="expiresAtTicks">When it expires; 0 for never.</param>
    /// <param name="expiryTicks">The present time; 0 while it is not known, when nothing has expired.</param>
    public static bool HasPassed(long expiresAtTicks, long expiryTicks) =>
        expiresAtTicks != 0 && expiresAtTicks <= expiryTicks;
}
