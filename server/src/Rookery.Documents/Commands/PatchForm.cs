namespace Rookery.Documents.Commands;

/// <summary>The form of a body that patches one document.</summary>
public enum PatchForm
{
    /// <summary>A script, <c>{"Patch":{…},"PatchIfMissing":null}</c>, as RavenDB's clients send it.</summary>
    Script,

    /// <summary>The array of operations of a JSON Patch (RFC 6902).</summary>
    JsonPatch,

    /// <summary>A JSON Patch in an object, <c>{"Operations":[…]}</c>, as RavenDB's clients send it.</summary>
    JsonPatchEnvelope,
}
