using System.Globalization;
using Rookery.Board;

namespace Rookery.Server.Observation;

/// <summary>
/// How much of a card's life is used, and how much is left at that rate, by what the card itself says. An SD card says
/// nothing of it.
/// </summary>
internal static class CardLife
{
    /// <summary>The worse of its two kinds of cells; null when it does not say.</summary>
    public static double? UsedOf(StorageReading device) =>
        Nullable.Compare(device.LifeUsedA, device.LifeUsedB) > 0 ? device.LifeUsedA : device.LifeUsedB;

    /// <summary>
    /// Days until all of it is used, if it goes on as since the card was made: at least so many, because the card tells
    /// its use in tenths, rounded up, and was not in use since it was made. Null where it does not say one of the two,
    /// and for a clock that is before that.
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
