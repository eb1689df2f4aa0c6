using System.Globalization;
using System.Text.Json.Nodes;

namespace Rookery.Documents.Tests.Patching;

/// <summary>
/// A simple implementation of JSON Patch (RFC 6902), with which tests compare the server's, and random operations.
/// </summary>
internal static class JsonPatchDefinition
{
    /// <summary>Creates a random operation. The document mostly has its 'path' and its 'from'.</summary>
    public static JsonObject RandomOperation(Random random, JsonNode root)
    {
        string[] kinds = ["add", "remove", "replace", "move", "copy", "test"];
        return new JsonObject
        {
            ["op"] = kinds[random.Next(kinds.Length)],
            ["path"] = RandomPointer(random, root),
            ["from"] = RandomPointer(random, root),
            ["value"] = random.Next(3) switch
            {
                0 => new JsonObject { ["v"] = random.Next(3) },
                1 => new JsonArray(random.Next(3)),
                _ => JsonValue.Create(random.Next(3)),
            },
        };
    }

    /// <summary>Creates a JSON pointer with segments that mostly exist in the document.</summary>
    private static string RandomPointer(Random random, JsonNode root)
    {
        var node = root;
        string pointer = "";
        while (random.Next(5) > 0)
        {
            string segment;
            switch (node)
            {
                case JsonObject { Count: > 0 } members when random.Next(6) > 0:
                    segment = members.ElementAt(random.Next(members.Count)).Key;
                    node = members[segment];
                    break;
                case JsonArray { Count: > 0 } elements when random.Next(6) > 0:
                    int index = random.Next(elements.Count);
                    segment = index.ToString(CultureInfo.InvariantCulture);
                    node = elements[index];
                    break;
                default:
                    // A segment that the document may not have.
                    segment = random.Next(4) switch
                    {
                        0 => "-",
                        1 => random.Next(4).ToString(CultureInfo.InvariantCulture),
                        2 => "~/",
                        _ => "k",
                    };
                    node = null;
                    break;
            }

            pointer +=
                "/" + segment.Replace("~", "~0", StringComparison.Ordinal).Replace("/", "~1", StringComparison.Ordinal);
        }

        return pointer;
    }

    /// <summary>Applies operations as RFC 6902 defines them; null if one fails.</summary>
    public static JsonNode? Apply(JsonNode root, JsonArray operations)
    {
        foreach (var operation in operations)
        {
            string op = (string)operation!["op"]!;
            string path = (string)operation["path"]!;
            string from = (string)operation["from"]!;
            JsonNode? value = operation["value"]?.DeepClone();
            bool isDone = true;
            switch (op)
            {
                case "remove":
                    isDone = path.Length > 0 && TryFind(root, path, remove: true, out _);
                    break;
                case "test":
                    isDone = TryFind(root, path, remove: false, out var tested) && JsonNode.DeepEquals(tested, value);
                    break;
                case "replace":
                    isDone =
                        TryFind(root, path, remove: false, out _) && TrySet(ref root, path, value, isReplace: true);
                    break;
                case "add":
                    isDone = TrySet(ref root, path, value, isReplace: false);
                    break;
                default:
                    // A move or a copy. A value cannot be moved into itself.
                    if (op is "move" && path.StartsWith(from + "/", StringComparison.Ordinal))
                    {
                        return null;
                    }

                    isDone = TryFind(root, from, remove: false, out var taken);
                    taken = taken?.DeepClone();
                    if (isDone && !(op is "move" && string.Equals(path, from, StringComparison.Ordinal)))
                    {
                        isDone =
                            (op is "copy" || TryFind(root, from, remove: true, out _))
                            && TrySet(ref root, path, taken, isReplace: false);
                    }

                    break;
            }

            if (!isDone)
            {
                return null;
            }
        }

        return root;
    }

    /// <summary>Returns the segments of a JSON pointer (RFC 6901), unescaped.</summary>
    private static string[] SegmentsOf(string pointer) =>
        [
            .. pointer
                .Split('/')
                .Skip(1)
                .Select(static segment =>
                    segment.Replace("~1", "/", StringComparison.Ordinal).Replace("~0", "~", StringComparison.Ordinal)
                ),
        ];

    /// <summary>Parses the index of an array's element: digits without a leading zero.</summary>
    private static bool TryParseIndex(string segment, out int index) =>
        int.TryParse(segment, NumberStyles.None, CultureInfo.InvariantCulture, out index)
        && (segment.Length == 1 || segment[0] != '0');

    /// <summary>Finds the value at a pointer, and removes it on request.</summary>
    private static bool TryFind(JsonNode root, string pointer, bool remove, out JsonNode? value)
    {
        value = root;
        string[] segments = SegmentsOf(pointer);
        for (int i = 0; i < segments.Length; i++)
        {
            bool isLast = i == segments.Length - 1;
            switch (value)
            {
                case JsonObject members when members.ContainsKey(segments[i]):
                    value = members[segments[i]];
                    if (isLast && remove)
                    {
                        members.Remove(segments[i]);
                    }

                    break;
                case JsonArray elements when TryParseIndex(segments[i], out int index) && index < elements.Count:
                    value = elements[index];
                    if (isLast && remove)
                    {
                        elements.RemoveAt(index);
                    }

                    break;
                default:
                    return false;
            }
        }

        return true;
    }

    /// <summary>
    /// Sets the value at a pointer: a member of an object, or a replaced or inserted element of an array. Returns
    /// whether the pointer leads there.
    /// </summary>
    private static bool TrySet(ref JsonNode root, string pointer, JsonNode? value, bool isReplace)
    {
        if (pointer.Length == 0)
        {
            root = value!;
            return value is JsonObject;
        }

        string parent = pointer[..pointer.LastIndexOf('/')];
        if (!TryFind(root, parent, remove: false, out var container))
        {
            return false;
        }

        string last = SegmentsOf(pointer)[^1];
        switch (container)
        {
            case JsonObject members:
                members[last] = value;
                return true;
            case JsonArray elements when last is "-":
                elements.Add(value);
                return true;
            case JsonArray elements when TryParseIndex(last, out int index) && index <= elements.Count:
                if (isReplace)
                {
                    elements.RemoveAt(index);
                }

                elements.Insert(index, value);
                return true;
            default:
                return false;
        }
    }
}
