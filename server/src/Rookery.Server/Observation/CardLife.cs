using System.Globalization;
using Rookery.Board;

namespace Rookery.Server.Observation;

/// <summary>
/// Estimates from a card's own report how much of its life is used and left. SD cards report nothing.
/// </summary>
internal static class CardLife
{
    /// <summary>
    /// Returns the used part of its life, 0 to 1, of the worse of its two kinds of cells; null if it does not report
    /// it.
    /// </summary>
    public static double? UsedOf(StorageReading device) =>
        Nullable.Compare(device.LifeUsedA, device.LifeUsedB) > 0 ? device.LifeUsedA : device.LifeUsedB;

    /// <summary>
    /// Returns the days until its whole life is used, at the average rate since it was made. It is a lower bound: the
    /// card reports its use in tenths, rounded up, and was not used from the day it was made. Null if use or date is
    /// unknown, or if the clock is before that date.
    /// </summary>
    public static double? DaysLeftOf(StorageReading device, DateTimeOffset now)
    {
        bool isKnown =
            UsedOf(device) is > 0
            & DateTime.TryParseExact(
                device.Card?.Date,
                "MM/yyyy",
                CultureInfo.InvariantCulture,
                DateTimeStyles.AssumeUniversal | DateTimeStyles.AdjustToUniversal,
                out var made
            );
        double days = (now.UtcDateTime - made).TotalDays;
        return isKnown && days > 0 && UsedOf(device) is { } used ? Math.Max(0, days * (1 - used) / used) : null;
    }
}
