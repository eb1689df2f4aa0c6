using System.Runtime.InteropServices;
using Rookery.Documents.Ids;
using Rookery.Documents.Json;

namespace Rookery.Documents.Scripting;

/// <content>Documents: parameters and those that a script loads.</content>
public sealed partial class ScriptInterpreter
{
    private readonly List<DocumentEntry> documents = [];
    private readonly List<LoadEntry> loads = [];
    private readonly ScriptDocumentReceiver receive;
    private ScriptValue received;

    /// <summary>Copies a document into the heap: its metadata as the member of documents shows them, and its body.</summary>
    private ScriptValue Keep(in DocumentView document, ReadOnlySpan<byte> changeVector)
    {
        var id = heap.NewText(document.Id);
        int metadata = heap.Length;
        heap.Add((byte)'{');
        if (!document.Metadata.IsEmpty)
        {
            heap.Add(document.Metadata);
            heap.Add((byte)',');
        }

        if (!document.Collection.IsEmpty)
        {
            AddTextMember("\"@collection\":\""u8, document.Collection);
        }

        if (!changeVector.IsEmpty)
        {
            AddTextMember("\"@change-vector\":\""u8, changeVector);
        }

        Span<byte> modified = stackalloc byte[WireDate.Length];
        WireDate.Write(modified, document.LastModifiedTicks);
        AddTextMember("\"@last-modified\":\""u8, modified);
        AddTextMember("\"@id\":\""u8, document.Id);
        heap.Truncate(heap.Length - 1);
        heap.Add((byte)'}');
        int body = heap.Length;
        heap.Add((byte)'{');
        heap.Add(document.Body);
        heap.Add((byte)'}');
        documents.Add(new DocumentEntry(id, metadata, body, default));
        return heap.FromJson(body, heap.Length, documents.Count - 1);
    }

    /// <summary>A document that is to be made: it has no id yet, and metadata without members.</summary>
    private ScriptValue KeepNew()
    {
        int metadata = heap.Length;
        heap.Add("{}"u8);
        int body = heap.Length;
        heap.Add("{}"u8);
        documents.Add(new DocumentEntry(ScriptValue.Null, metadata, body, default));
        return heap.FromJson(body, heap.Length, documents.Count - 1);
    }

    private void AddTextMember(ReadOnlySpan<byte> head, ReadOnlySpan<byte> text)
    {
        const int MostBytesOfEscape = 6;
        heap.Add(head);
        heap.Advance(JsonText.Escape(text, heap.Reserve(text.Length * MostBytesOfEscape)));
        heap.Add("\","u8);
    }

    private ScriptValue IdOf(ScriptValue value)
    {
        int document = heap.DocumentOf(value);
        return document < 0 ? ScriptValue.Null : documents[document].Id;
    }

    private ScriptValue MetadataOf(ScriptValue value)
    {
        int number = heap.DocumentOf(value);
        if (number < 0)
        {
            return value.Kind == ValueKind.Object && heap.Find(value, "@metadata"u8) is >= 0 and int member ? heap.Member(value, member) : ScriptValue.Undefined;
        }

        ref var document = ref CollectionsMarshal.AsSpan(documents)[number];
        if (document.Metadata.Kind == ValueKind.Undefined)
        {
            document.Metadata = heap.FromJson(document.MetadataStart, document.BodyStart);
            heap.Freeze(document.Metadata);
        }

        return document.Metadata;
    }

    /// <summary>Loads a document by its id, or each of an array of ids. What was loaded once is the same the next time.</summary>
    private ScriptValue Load(ScriptValue id)
    {
        if (id.Kind == ValueKind.Array)
        {
            var array = heap.NewArray();
            for (int index = 0; index < heap.Count(id); index++)
            {
                heap.Spend(1);
                var element = heap.Element(id, index);
                heap.Append(array, element.Kind == ValueKind.Array ? ScriptValue.Null : Load(element));
            }

            return array;
        }

        if (!id.IsText)
        {
            return ScriptValue.Null;
        }

        // No document has a longer id: it is neither copied nor compared with those before it.
        id = heap.Plain(id);
        if (id.Length is 0 or > DocumentId.MaxBytes)
        {
            return ScriptValue.Null;
        }

        foreach (var known in loads)
        {
            heap.Spend(known.Id.Length == id.Length ? 1 + (id.Length / BytesPerStep) : 1);
            if (heap.Span(known.Id).SequenceEqual(heap.Span(id)))
            {
                return known.Document;
            }
        }

        const int StepsPerLoad = 100;
        if (loads.Count == limits.Loads)
        {
            throw new ScriptFailure($"the script loads more than {limits.Loads} documents");
        }

        heap.Spend(StepsPerLoad);
        received = ScriptValue.Null;
        if (Documents is not null)
        {
            // The id is copied, because what is received moves the heap.
            Documents.Load(heap.Span(id).ToArray(), receive);
        }

        loads.Add(new LoadEntry(id, received));
        return received;
    }

    private void Receive(in DocumentView document, ReadOnlySpan<byte> changeVector)
    {
        received = Keep(document, changeVector);
        heap.Allow(Math.Min((long)document.Body.Length * limits.StepsPerByte, limits.MostSteps / limits.Loads));
    }

    private record struct DocumentEntry(ScriptValue Id, int MetadataStart, int BodyStart, ScriptValue Metadata);

    private readonly record struct LoadEntry(ScriptValue Id, ScriptValue Document);
}
