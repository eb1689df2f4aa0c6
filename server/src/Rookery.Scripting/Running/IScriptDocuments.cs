namespace Rookery.Scripting.Running;

/// <summary>Takes a document that a script asked for, and copies it.</summary>
/// <param name="document">The document.</param>
public delegate void ScriptDocumentReceiver(in ScriptDocument document);

/// <summary>Where scripts find the documents that they load.</summary>
public interface IScriptDocuments
{
    /// <summary>Finds a document.</summary>
    /// <param name="id">The id as the script gave it: any text.</param>
    /// <param name="receiver">What takes the document; not called where there is none.</param>
    void Load(ReadOnlySpan<byte> id, ScriptDocumentReceiver receiver);
}
