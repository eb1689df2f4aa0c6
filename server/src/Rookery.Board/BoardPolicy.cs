using System.Globalization;

namespace Rookery.Board;

/// <summary>What is wrong with a board, the worse the higher: its number is how little it should lead.</summary>
public enum BoardCondition
{
    /// <summary>Nothing that is known.</summary>
    Well = 0,

    /// <summary>At or above the temperature at which background work pauses.</summary>
    Hot = 1,

    /// <summary>The firmware slows the processor down.</summary>
    Throttled = 2,

    /// <summary>The supply does not hold its voltage: such a board may stop at any moment.</summary>
    UnderVoltage = 3,
}

/// <summary>What follows from a reading. Pure, so that a test needs only the reading.</summary>
public static class BoardPolicy
{
    /// <summary>From here on background work slows down, in steps.</summary>
    public const double WarmCelsius = 70;

    /// <summary>From here on it slows down more.</summary>
    public const double WarmerCelsius = 75;

    /// <summary>From here on it pauses. The firmware slows the processor down at 80 to 85.</summary>
    public const double HotCelsius = 80;

    /// <summary>
    /// The share of one core that background work may take: half of one while it is cool, because the other half is for
    /// whoever waits for the same disk; less from 70 °C on; none from 80 °C on or while the firmware throttles; a
    /// quarter where the temperature is not known.
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

    /// <summary>The worst that is wrong.</summary>
    public static BoardCondition ConditionOf(in BoardReading reading) =>
        reading.Is(Throttling.UnderVoltage) ? BoardCondition.UnderVoltage
        : reading.Is(Throttling.Throttled | Throttling.FrequencyCapped) ? BoardCondition.Throttled
        : reading.TemperatureCelsius >= HotCelsius ? BoardCondition.Hot
        : BoardCondition.Well;

    /// <summary>What is wrong, in a sentence with what helps; null when nothing is.</summary>
    /// <param name="condition">The worst of the last minutes.</param>
    /// <param name="reading">The last reading.</param>
    public static string? Describe(BoardCondition condition, in BoardReading reading) =>
        condition switch
        {
            BoardCondition.UnderVoltage =>
                "The board's supply fell below 4.63 V: it may stop at any moment. Use the supply that its "
                    + "maker names and a short, thick cable, and take away USB devices that draw much.",
            BoardCondition.Throttled =>
                $"The firmware slows the processor down, for heat or want of power{At(reading)}. Background "
                    + $"work pauses meanwhile. Give the board air or a heat sink, and look at its supply.",
            BoardCondition.Hot =>
                $"The board is hot{At(reading)}: background work pauses from {HotCelsius:0} °C on. Give it "
                    + $"air or a heat sink.",
            _ => null,
        };

    private static string At(in BoardReading reading) =>
        reading.TemperatureCelsius is { } celsius
            ? string.Create(CultureInfo.InvariantCulture, $" ({celsius:0} °C now)")
            : string.Empty;
}
