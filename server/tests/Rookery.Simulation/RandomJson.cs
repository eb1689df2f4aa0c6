using CsCheck;

namespace Rookery.Simulation;

/// <summary>Random JSON values with so few names and numbers that they often coincide.</summary>
public static class RandomJson
{
    /// <summary>Generates a value.</summary>
    /// <param name="depth">The most levels of objects and arrays.</param>
    public static Gen<string> Value(int depth)
    {
        var simple = Gen.OneOf("null", "0", "1", "2", "3", "4", "\"x\\n\"");
        return depth == 0
            ? simple
            : Gen.Frequency(
                (3, simple),
                (1, Value(depth - 1).Select(static value => $"[{value}]")),
                (
                    2,
                    Gen.Select(Gen.Char["abcde"], Value(depth - 1), static (name, value) => $"\"{name}\":{value}")
                        .Array[0, 5]
                        .Select(static members =>
                            // Keeps one member of each name: member[1] is the name, after the quotation mark.
                            $"{{{string.Join(',', members.DistinctBy(static member => member[1]))}}}"
                        )
                )
            );
    }
}
