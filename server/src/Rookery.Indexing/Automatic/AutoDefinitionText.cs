using System.Buffers;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Rookery.Documents.Indexes;
using Rookery.Indexing.Mapping;

namespace Rookery.Indexing.Automatic;

/// <summary>
/// What the definitions of all kinds of automatic indexes have in common: the frame of their JSON, and how their names
/// are made.
/// </summary>
internal static class AutoDefinitionText
{
    // Part of the format, whatever the properties are called.
    private const string TypeMember = "Type";
    private const string CollectionMember = "Collection";

    // The rest of the name of an index of many fields is a hash: names have an end.
    private const int MaxNameBytes = 256;
    private const string NameOfAll = "AllDocs";

    /// <summary>Writes a definition.</summary>
    /// <param name="typeName">Of which kind it is.</param>
    /// <param name="collection">The collection; null for all documents.</param>
    /// <param name="members">Writes the members of this kind.</param>
    public static byte[] Write(string typeName, string? collection, Action<Utf8JsonWriter> members)
    {
        var output = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(output))
        {
            json.WriteStartObject();
            json.WriteString(TypeMember, typeName);
            json.WriteString(CollectionMember, collection);
            members(json);
            json.WriteEndObject();
        }

        return output.WrittenSpan.ToArray();
    }

    /// <summary>Reads a definition; null when it is of another kind.</summary>
    /// <param name="definition">The JSON.</param>
    /// <param name="typeName">The kind.</param>
    /// <param name="read">Reads the members of this kind, for a collection, or for all documents: null. What it does
    /// not understand may fail as <see cref="JsonElement"/> does, or by <see cref="FormatException"/>.</param>
    /// <exception cref="IndexDefinitionException">It says nothing that this program understands.</exception>
    public static T? TryRead<T>(ReadOnlyMemory<byte> definition, string typeName, Func<string?, JsonElement, T> read)
        where T : class
    {
        try
        {
            using var json = JsonDocument.Parse(definition);
            var root = json.RootElement;
            bool isOfKind =
                root.ValueKind == JsonValueKind.Object
                && root.TryGetProperty(TypeMember, out var type)
                && type.ValueEquals(typeName);
            return isOfKind ? read(root.GetProperty(CollectionMember).GetString(), root) : null;
        }
        catch (JsonException)
        {
            throw new IndexDefinitionException("its definition is no JSON.");
        }
        catch (Exception wrong) when (wrong is InvalidOperationException or KeyNotFoundException or FormatException)
        {
            throw new IndexDefinitionException(
                "The definition of an automatic index was written by a newer version of Rookery; start that one."
            );
        }
    }

    /// <summary>Writes a path as an array of its steps.</summary>
    public static void WritePath(Utf8JsonWriter json, string member, IReadOnlyList<string> path)
    {
        json.WriteStartArray(member);
        foreach (string step in path)
        {
            json.WriteStringValue(step);
        }

        json.WriteEndArray();
    }

    /// <summary>Reads what <see cref="WritePath"/> wrote.</summary>
    /// <exception cref="FormatException">One of its steps is null.</exception>
    /// <exception cref="InvalidOperationException">It is no array of strings.</exception>
    public static string[] ReadPath(JsonElement path) =>
        [.. path.EnumerateArray().Select(static step => step.GetString() ?? throw new FormatException())];

    /// <summary>
    /// The name of an index: of its collection and what it holds, or a hash of its definition where that is too long
    /// for a name, or none.
    /// </summary>
    public static string NameOf(IAutoDefinition definition, string? collection, string content)
    {
        string name = $"Auto/{collection ?? NameOfAll}/{content}";
        return Encoding.UTF8.GetByteCount(name) <= MaxNameBytes && IndexRecord.NameProblem(name) is null
            ? name
            : $"Auto/{Convert.ToHexStringLower(SHA256.HashData(definition.ToJson()).AsSpan(0, 16))}";
    }

    /// <summary>A path as names show it: <c>Address_City</c>.</summary>
    public static string NameOf(IEnumerable<string> path) =>
        string.Join(
            '_',
            path.Select(static step => step.Length > 0 ? char.ToUpperInvariant(step[0]) + step[1..] : step)
        );
}
