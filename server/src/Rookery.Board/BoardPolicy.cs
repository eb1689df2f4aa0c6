using System.Globalization;

namespace Rookery.Board;

/// <summary>
/// What is wrong with a board, from best to worst. The number is the penalty by which consensus avoids the node as
/// leader.
/// </summary>
public enum BoardCondition
{
    /// <summary>Nothing is known to be wrong.</summary>
    Well = 0,

    /// <summary>At or above the temperature at which background work pauses.</summary>
    Hot = 1,

    /// <summary>The firmware throttles the processor.</summary>
    Throttled = 2,

    /// <summary>The supply voltage is too low: the board may stop at any moment.</summary>
    UnderVoltage = 3,
}

/// <summary>The consequences of a sensor reading. Pure functions, so a test needs only a reading.</summary>
public static class BoardPolicy
{
    /// <summary>From this temperature on background work slows down, in steps.</summary>
    public const double WarmCelsius = 70;

    /// <summary>From this temperature on background work slows down more.</summary>
    public const double WarmerCelsius = 75;

    /// <summary>
    /// From this temperature on background work pauses. The firmware throttles the processor at 80 to 85 °C.
    /// </summary>
    public const double HotCelsius = 80;

    /// <summary>
    /// Returns the share of one core that background work may take: one half while the board is cool, because
    /// requests wait for the same disk; less from 70 °C; none from 80 °C or while the firmware throttles; a quarter if
    /// the temperature is unknown.
    /// </summary>
    public static double BackgroundShareOf(in BoardReading reading) =>
        reading.Is(Throttling.Throttled | Throttling.FrequencyCapped)
            ? 0
            : reading.TemperatureCelsius switch
            {
                null => 0.25,
                < WarmCelsius => 0.5,
                < WarmerCelsius => 0.25,
                < HotCelsius => 0.1,
                _ => 0,
            };

    /// <summary>Returns the worst condition of a reading.</summary>
    public static BoardCondition ConditionOf(in BoardReading reading)
    {
        if (reading.Is(Throttling.UnderVoltage))
        {
            return BoardCondition.UnderVoltage;
        }

        if (reading.Is(Throttling.Throttled | Throttling.FrequencyCapped))
        {
            return BoardCondition.Throttled;
        }

        if (reading.TemperatureCelsius >= HotCelsius)
        {
            return BoardCondition.Hot;
        }

        return BoardCondition.Well;
    }

    /// <summary>Describes a condition and its remedy in sentences; null if nothing is wrong.</summary>
    /// <param name="condition">The worst condition of the last five minutes.</param>
    /// <param name="reading">The last reading, for the temperature now.</param>
    public static string? Describe(BoardCondition condition, in BoardReading reading) =>
        condition switch
        {
            BoardCondition.UnderVoltage =>
                "The board's supply voltage fell below 4.63 V: the board may stop at any moment. Use the power supply "
                    + "that its maker recommends and a short, thick cable, and unplug USB devices that draw much.",
            BoardCondition.Throttled =>
                $"The firmware throttles the processor because of heat or low power{DegreesOf(reading)}. Background "
                    + $"work pauses meanwhile. Cool the board with air or a heat sink, and check its power supply.",
            BoardCondition.Hot =>
                $"The board is hot{DegreesOf(reading)}: background work pauses from {HotCelsius:0} °C on. Cool it "
                    + $"with air or a heat sink.",
            _ => null,
        };

    private static string DegreesOf(in BoardReading reading) =>
        reading.TemperatureCelsius is { } celsius
            ? string.Create(CultureInfo.InvariantCulture, $" ({celsius:0} °C now)")
            : string.Empty;
}
