namespace Rookery.Documents.Patching;

/// <summary>An operation of a JSON Patch (RFC 6902). Numbers are part of the journal's format.</summary>
internal enum JsonPatchOperation : byte
{
    /// <summary>Adds a member, replaces it if it exists, or inserts an element.</summary>
    Add = 1,

    /// <summary>Removes a member or an element.</summary>
    Remove = 2,

    /// <summary>Replaces a value that exists.</summary>
    Replace = 3,

    /// <summary>Removes a value and adds it at another place.</summary>
    Move = 4,

    /// <summary>Adds a copy of a value at another place.</summary>
    Copy = 5,

    /// <summary>Fails the patch if a value is not equal to the given one.</summary>
    Test = 6,
}

/// <summary>The names of the operations.</summary>
internal static class JsonPatchOperations
{
    private static readonly JsonPatchOperation[] All = Enum.GetValues<JsonPatchOperation>();

    /// <summary>Returns the name of an operation.</summary>
    public static string NameOf(JsonPatchOperation operation) =>
        operation switch
        {
            JsonPatchOperation.Add => "add",
            JsonPatchOperation.Remove => "remove",
            JsonPatchOperation.Replace => "replace",
            JsonPatchOperation.Move => "move",
            JsonPatchOperation.Copy => "copy",
            _ => "test",
        };

    /// <summary>Returns the operation of a name, or null.</summary>
    public static JsonPatchOperation? Find(string? name)
    {
        int place = Array.FindIndex(All, operation => string.Equals(NameOf(operation), name, StringComparison.Ordinal));
        return place < 0 ? null : All[place];
    }
}
