using Rookery.Documents.Json;

namespace Rookery.Documents.Scripting;

/// <summary>Takes a document that a script asked for, and copies it.</summary>
/// <param name="document">The document.</param>
/// <param name="changeVector">Its change vector for the metadata; empty to leave it out.</param>
public delegate void ScriptDocumentReceiver(in DocumentView document, ReadOnlySpan<byte> changeVector);

/// <summary>Where scripts find the documents that they load.</summary>
public interface IScriptDocuments
{
    /// <summary>Finds a document.</summary>
    /// <param name="id">The id as the script gave it: any text.</param>
    /// <param name="receiver">What takes the document; not called where there is none.</param>
    void Load(ReadOnlySpan<byte> id, ScriptDocumentReceiver receiver);
}
