using System.Buffers;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Rookery.Documents.Indexes;
using Rookery.Indexing.Mapping;

namespace Rookery.Indexing.Automatic;

/// <summary>
/// Code shared by the definitions of automatic indexes: reads and writes the outer members of their JSON, and builds
/// their names.
/// </summary>
internal static class AutoDefinitionText
{
    // Part of the stored format; independent of property names.
    private const string TypeMember = "Type";
    private const string CollectionMember = "Collection";

    /// <summary>The reason of a query for whose index <see cref="IsTooLong"/>.</summary>
    public const string WhyTooLong =
        "Documents are scanned: the names in the query are too long for the definition of an index.";

    // A longer name is replaced by a hash.
    private const int MaxNameBytes = 256;
    private const string NameOfAll = "AllDocs";

    /// <summary>Writes a definition as JSON.</summary>
    /// <param name="typeName">The kind of definition.</param>
    /// <param name="collection">The collection; null for all documents.</param>
    /// <param name="members">Writes the members of this kind of definition.</param>
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

    /// <summary>
    /// Returns whether a definition is too long to be stored. JSON escapes letters that are not ASCII, so a definition
    /// may be longer than the query that needs it.
    /// </summary>
    public static bool IsTooLong(IAutoDefinition definition) =>
        definition.ToJson().Length > IndexRecord.MaxDefinitionBytes;

    /// <summary>Reads a definition. Returns null if it is of another kind.</summary>
    /// <param name="definition">The definition as JSON.</param>
    /// <param name="typeName">The kind of definition.</param>
    /// <param name="read">Creates the definition from its collection (null for all documents) and its JSON. Throws
    /// <see cref="FormatException"/> or an exception of <see cref="JsonElement"/> if the content is unknown.</param>
    /// <exception cref="IndexDefinitionException">The definition is malformed or of a newer version.</exception>
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
            throw new IndexDefinitionException("its definition is not JSON.");
        }
        catch (Exception wrong) when (wrong is InvalidOperationException or KeyNotFoundException or FormatException)
        {
            throw new IndexDefinitionException(
                "The definition of an automatic index was written by a newer version of Rookery. Start that version."
            );
        }
    }

    /// <summary>Writes a path as an array of its member names.</summary>
    public static void WritePath(Utf8JsonWriter json, string member, IReadOnlyList<string> path)
    {
        json.WriteStartArray(member);
        foreach (string step in path)
        {
            json.WriteStringValue(step);
        }

        json.WriteEndArray();
    }

    /// <summary>Reads a path that <see cref="WritePath"/> wrote.</summary>
    /// <exception cref="FormatException">A member name is null.</exception>
    /// <exception cref="InvalidOperationException">The value is not an array of strings.</exception>
    public static string[] ReadPath(JsonElement path) =>
        [.. path.EnumerateArray().Select(static step => step.GetString() ?? throw new FormatException())];

    /// <summary>
    /// Returns the name of an index, built from its collection and content. If that name is too long or not allowed,
    /// returns a name that contains only a hash of the definition.
    /// </summary>
    public static string NameOf(IAutoDefinition definition, string? collection, string content)
    {
        const int ShownHashBytes = 16;
        string name = $"Auto/{collection ?? NameOfAll}/{content}";
        return Encoding.UTF8.GetByteCount(name) <= MaxNameBytes && IndexRecord.NameProblem(name) is null
            ? name
            : $"Auto/{Convert.ToHexStringLower(SHA256.HashData(definition.ToJson()).AsSpan(0, ShownHashBytes))}";
    }

    /// <summary>Returns a path as names show it, in the case of the fields: <c>address_city</c>.</summary>
    public static string NameOf(IEnumerable<string> path) => string.Join('_', path);
}
