using System.Text.Json;
using System.Text.Json.Serialization;

namespace Rookery.Histories;

/// <summary>
/// The file format of histories: one JSON line for each operation, in any order:
/// <c>{"client":1,"invoked":10,"completed":20,"kind":"Put","outcome":"Done","key":"a","value":7,"etag":3}</c>.
/// </summary>
public static class HistoryFile
{
    /// <summary>Reads a history.</summary>
    /// <exception cref="FormatException">A line is not an operation.</exception>
    public static IReadOnlyList<Operation> Read(TextReader lines)
    {
        List<Operation> operations = [];
        for (int number = 1; lines.ReadLine() is { } line; number++)
        {
            if (!string.IsNullOrWhiteSpace(line))
            {
                operations.Add(Parse(line, number));
            }
        }

        return operations;
    }

    /// <summary>Returns an operation as a line, without a line break.</summary>
    public static string Line(Operation operation) =>
        JsonSerializer.Serialize(operation, HistoryJson.Default.Operation);

    private static Operation Parse(string line, int number)
    {
        try
        {
            return JsonSerializer.Deserialize(line, HistoryJson.Default.Operation)
                ?? throw new FormatException($"line {number} is null");
        }
        catch (JsonException malformed)
        {
            throw new FormatException($"line {number} is not an operation: {malformed.Message}", malformed);
        }
    }
}

[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase,
    UseStringEnumConverter = true,
    UnmappedMemberHandling = JsonUnmappedMemberHandling.Disallow,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull
)]
[JsonSerializable(typeof(Operation))]
internal sealed partial class HistoryJson : JsonSerializerContext;
