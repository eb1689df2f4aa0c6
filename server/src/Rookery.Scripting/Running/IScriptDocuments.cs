namespace Rookery.Scripting.Running;

/// <summary>Receives a document that a script loads. It must copy the document during the call.</summary>
/// <param name="document">The document.</param>
public delegate void ScriptDocumentReceiver(in ScriptDocument document);

/// <summary>The documents that scripts can load.</summary>
public interface IScriptDocuments
{
    /// <summary>Finds a document.</summary>
    /// <param name="id">The id that the script passed. It may be any text.</param>
    /// <param name="receiver">Receives the document. Not called if it does not exist.</param>
    void Load(ReadOnlySpan<byte> id, ScriptDocumentReceiver receiver);
}
