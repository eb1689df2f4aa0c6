using System.Globalization;
using Rookery.Board;

namespace Rookery.Server.Observation;

/// <summary>Estimates from a card's own report how much of its life is left. SD cards report nothing.</summary>
internal static class CardLife
{
    /// <summary>
    /// Returns the days until the card's whole life is used, at the average rate since its manufacture. This is a lower
    /// bound: the card reports its use in tenths, rounded up, and was first used after its manufacture. Null if the use
    /// or the date of manufacture is unknown, or if the clock shows a time before this date.
    /// </summary>
    public static double? DaysLeftOf(StorageReading device, DateTimeOffset now)
    {
        // Without short-circuiting, so that the compiler sees the date assigned.
        bool isKnown =
            device.LifeUsed is > 0
            & DateTime.TryParseExact(
                device.Card?.Date,
                "MM/yyyy",
                CultureInfo.InvariantCulture,
                DateTimeStyles.AssumeUniversal | DateTimeStyles.AdjustToUniversal,
                out var manufactured
            );
        double days = (now.UtcDateTime - manufactured).TotalDays;
        return isKnown && days > 0 && device.LifeUsed is { } used ? Math.Max(0, days * (1 - used) / used) : null;
    }
}
