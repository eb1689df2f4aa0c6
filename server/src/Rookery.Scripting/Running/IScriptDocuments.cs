namespace Rookery.Scripting.Running;

/// <summary>Receives a document that a script loads, and copies it.</summary>
/// <param name="document">The document.</param>
public delegate void ScriptDocumentReceiver(in ScriptDocument document);

/// <summary>The documents that scripts can load.</summary>
public interface IScriptDocuments
{
    /// <summary>Finds a document.</summary>
    /// <param name="id">The id that the script gave: any text.</param>
    /// <param name="receiver">Receives the document; not called when there is none.</param>
    void Load(ReadOnlySpan<byte> id, ScriptDocumentReceiver receiver);
}
