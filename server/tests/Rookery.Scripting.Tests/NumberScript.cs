using System.Globalization;

namespace Rookery.Scripting.Tests;

/// <summary>
/// Generates expressions that compute with numbers, write and read them, on doubles of all magnitudes and on texts that
/// are nearly numbers.
/// </summary>
internal sealed class NumberScript(Random random)
{
    // Texts that are nearly numbers consist of these.
    private static readonly string[] Pieces =
    [
        "0",
        "00",
        "1",
        "9",
        "12",
        "099",
        ".",
        "e",
        "E",
        "+",
        "-",
        " ",
        "\\t",
        "\\u00a0",
        "x",
        "0x",
        "0b",
        "0o",
        "f",
        "z",
        "_",
        "Infinity",
        "NaN",
        "e5",
        "e-7",
        ".5",
        "5.",
        "1e",
        "123456789012345678901234567890",
        "0.0000001",
        "4.9e-324",
        "1.7976931348623159e308",
        "1e309",
        "n",
        ",",
    ];

    /// <summary>Returns a random expression.</summary>
    public string Expression() =>
        random.Next(12) switch
        {
            0 => $"String({Number()})",
            1 => $"({Number()}).toFixed({random.Next(0, 21)})",
            2 =>
                $"parseInt({Text()}{Pick(["", ", 10", ", 2", ", 16", ", 36", $", {random.Next(-1, 38)}", $", {Number()}"])})",
            3 => $"parseFloat({Text()})",
            4 => $"Number({Text()})",
            5 => $"(+{Text()})",
            6 => $"Math.{Pick(["round", "floor", "ceil", "abs", "trunc", "sign"])}({Number()})",
            7 => $"Math.{Pick(["min", "max"])}({Number()}, {Number()})",
            8 => $"String({Number()} {Pick(["+", "-", "*", "/", "%"])} {Number()})",
            9 => $"({Number()} {Pick(["<", "==", "===", ">="])} {Pick([Number(), Text()])})",
            10 => $"(1 / Math.{Pick(["round", "ceil", "trunc", "min", "max"])}({Number()}))",
            _ => $"[parseInt({Number()}), `${{{Number()}}}`, Number.isInteger({Number()}), isFinite({Text()})]",
        };

    private string Number()
    {
        double number = random.Next(8) switch
        {
            0 => BitConverter.Int64BitsToDouble(random.NextInt64(long.MinValue, long.MaxValue)),
            1 => random.Next(-1000, 1000),
            2 => random.Next(-1000, 1000) / 2.0,
            3 => random.Next(-100_000, 100_000) / 1000.0,
            4 => random.NextInt64() >> random.Next(64),
            5 => Math.Pow(10, random.Next(-330, 310)) * random.Next(1, 10),
            6 => (Math.Pow(2, random.Next(40, 70)) + random.Next(-2, 3)) * (random.Next(2) == 0 ? 1 : -1),
            _ => (random.NextDouble() - 0.5) * Math.Pow(10, random.Next(-8, 24)),
        };
        string text = double.IsNaN(number)
            ? "NaN"
            : number.ToString("R", CultureInfo.InvariantCulture).Replace("∞", "Infinity", StringComparison.Ordinal);
        return random.Next(12) == 0 ? Pick(["-0", "0", "NaN", "(1 / 0)", "0.5", "-0.5", "1e21", "1e-7"]) : $"({text})";
    }

    private string Text() =>
        random.Next(3) == 0
            ? $"'{Number().Trim('(', ')')}{Pick(["", " ", "px", "e1"])}'"
            : $"'{string.Concat(Enumerable.Range(0, random.Next(1, 5)).Select(_ => Pick(Pieces)))}'";

    private string Pick(string[] choices) => choices[random.Next(choices.Length)];
}
