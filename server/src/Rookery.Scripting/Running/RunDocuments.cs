using System.Runtime.InteropServices;
using Rookery.Json;

namespace Rookery.Scripting.Running;

/// <summary>The documents of a run: those passed to it and those that it loads.</summary>
internal sealed class RunDocuments
{
    private readonly ScriptHeap _heap;
    private readonly ScriptLimits _limits;
    private readonly List<DocumentEntry> _documents = [];
    private readonly List<LoadEntry> _loads = [];
    private readonly ScriptDocumentReceiver _receive;
    private ScriptValue _received;
    private bool _mayChangeMetadata;
    private int _loadCount;

    /// <summary>Makes an empty set.</summary>
    /// <param name="heap">The heap that documents are copied to.</param>
    /// <param name="limits">Bounds the number of loads, and determines the steps that a loaded document adds.</param>
    public RunDocuments(ScriptHeap heap, ScriptLimits limits)
    {
        _heap = heap;
        _limits = limits;
        _receive = Receive;
    }

    /// <summary>The documents that <see cref="Load"/> finds; null for none.</summary>
    public IScriptDocuments? Source { get; set; }

    /// <summary>Removes all documents.</summary>
    public void Clear()
    {
        _documents.Clear();
        _loads.Clear();
        _loadCount = 0;
        _mayChangeMetadata = false;
    }

    /// <summary>Lets the next load of each document read it again, because the run stored or deleted one.</summary>
    public void ForgetLoads() => _loads.Clear();

    /// <summary>Copies a document to the heap: its metadata, as documents show it, and its body.</summary>
    public ScriptValue Add(in ScriptDocument document)
    {
        var id = _heap.NewText(document.Id);
        int metadata = _heap.Length;
        _heap.Add((byte)'{');
        if (!document.Metadata.IsEmpty)
        {
            _heap.Add(document.Metadata);
            _heap.Add((byte)',');
        }

        if (!document.ComputedMetadata.IsEmpty)
        {
            _heap.Add(document.ComputedMetadata);
            _heap.Add((byte)',');
        }

        if (!document.Collection.IsEmpty)
        {
            AddTextMember("\"@collection\":\""u8, document.Collection);
        }

        if (!document.ChangeVector.IsEmpty)
        {
            AddTextMember("\"@change-vector\":\""u8, document.ChangeVector);
        }

        Span<byte> modified = stackalloc byte[WireDate.Length];
        WireDate.Write(modified, document.LastModifiedTicks);
        AddTextMember("\"@last-modified\":\""u8, modified);
        AddTextMember("\"@id\":\""u8, document.Id);
        // Each member ends with a comma. Remove the last one.
        _heap.Truncate(_heap.Length - 1);
        _heap.Add((byte)'}');
        int body = _heap.Length;
        _heap.Add((byte)'{');
        _heap.Add(document.Body);
        _heap.Add((byte)'}');
        _documents.Add(new DocumentEntry(id, metadata, body, Metadata: default));
        return _heap.Containers.FromJson(body, _heap.Length, _documents.Count - 1);
    }

    /// <summary>Adds a document that the script creates. It has no id and empty metadata.</summary>
    public ScriptValue AddNew()
    {
        int metadata = _heap.Length;
        _heap.Add("{}"u8);
        int body = _heap.Length;
        _heap.Add("{}"u8);
        _documents.Add(new DocumentEntry(ScriptValue.Null, metadata, body, Metadata: default));
        return _heap.Containers.FromJson(body, _heap.Length, _documents.Count - 1);
    }

    /// <summary>Adds a member whose value is a text, followed by a comma.</summary>
    /// <param name="head">The name of the member, its colon, and the quote before the value.</param>
    /// <param name="text">The value without escapes.</param>
    private void AddTextMember(ReadOnlySpan<byte> head, ReadOnlySpan<byte> text)
    {
        const int MaxBytesOfEscape = 6;
        _heap.Add(head);
        _heap.Advance(JsonText.Escape(text, _heap.Reserve(text.Length * MaxBytesOfEscape)));
        _heap.Add("\","u8);
    }

    /// <summary>Returns the id of a value that is a document; null for any other value.</summary>
    public ScriptValue IdOf(ScriptValue value)
    {
        int document = _heap.Containers.DocumentOf(value);
        return document < 0 ? ScriptValue.Null : _documents[document].Id;
    }

    /// <summary>
    /// Returns the metadata of a value that is a document. For any other object, returns its member <c>@metadata</c>.
    /// </summary>
    public ScriptValue MetadataOf(ScriptValue value)
    {
        int number = _heap.Containers.DocumentOf(value);
        if (number < 0)
        {
            return value.Kind == ValueKind.Object && _heap.Containers.Find(value, "@metadata"u8) is >= 0 and int member
                ? _heap.Containers.Member(value, member)
                : ScriptValue.Undefined;
        }

        ref var document = ref CollectionsMarshal.AsSpan(_documents)[number];
        if (document.Metadata.Kind == ValueKind.Undefined)
        {
            document.Metadata = _heap.Containers.FromJson(document.MetadataStart, document.BodyStart);
            _heap.Containers.Freeze(document.Metadata, isFrozen: !_mayChangeMetadata);
        }

        return document.Metadata;
    }

    /// <summary>Lets the run change metadata from now on.</summary>
    public void OpenMetadata()
    {
        _mayChangeMetadata = true;
        foreach (ref readonly var document in CollectionsMarshal.AsSpan(_documents))
        {
            if (document.Metadata.Kind == ValueKind.Object)
            {
                _heap.Containers.Freeze(document.Metadata, isFrozen: false);
            }
        }
    }

    /// <summary>Replaces the metadata of a document.</summary>
    /// <exception cref="ScriptFailure">The run may not change metadata, or the value is no object.</exception>
    public void SetMetadata(ScriptValue document, ScriptValue metadata)
    {
        if (!_mayChangeMetadata)
        {
            throw new ScriptFailure("the metadata cannot be changed by a script");
        }

        CollectionsMarshal.AsSpan(_documents)[_heap.Containers.DocumentOf(document)].Metadata =
            metadata.Kind == ValueKind.Object && _heap.Containers.DocumentOf(metadata) < 0
                ? metadata
                : throw new ScriptFailure("the metadata can only be set to an object");
    }

    /// <summary>
    /// Returns the metadata of a document as the run left it; undefined if the run did not read or set it, or may not
    /// change it.
    /// </summary>
    public ScriptValue ChangedMetadataOf(ScriptValue document) =>
        _mayChangeMetadata ? _documents[_heap.Containers.DocumentOf(document)].Metadata : ScriptValue.Undefined;

    /// <summary>
    /// Loads a document by id, or an array of documents by an array of ids. A second load of an id returns the same
    /// object.
    /// </summary>
    public ScriptValue Load(ScriptValue id)
    {
        if (id.Kind == ValueKind.Array)
        {
            var array = _heap.Containers.NewArray();
            for (int index = 0; index < _heap.Containers.Count(id); index++)
            {
                _heap.Budget.Spend(1);
                var element = _heap.Containers.Element(id, index);
                _heap.Containers.Append(array, element.Kind == ValueKind.Array ? ScriptValue.Null : Load(element));
            }

            return array;
        }

        if (!id.IsText)
        {
            return ScriptValue.Null;
        }

        // No document has a longer id, so a longer one is neither looked up nor compared with earlier ones.
        id = _heap.Plain(id);
        if (id.Length is 0 or > JsonLimits.MaxIdBytes)
        {
            return ScriptValue.Null;
        }

        foreach (var known in _loads)
        {
            _heap.Budget.Spend(known.Id.Length == id.Length ? 1 + (id.Length / ScriptBudget.BytesPerStep) : 1);
            if (_heap.Span(known.Id).SequenceEqual(_heap.Span(id)))
            {
                return known.Document;
            }
        }

        const int StepsPerLoad = 100;
        if (_loadCount++ == _limits.Loads)
        {
            throw new ScriptFailure($"the script loads more than {_limits.Loads} documents");
        }

        _heap.Budget.Spend(StepsPerLoad);
        _received = ScriptValue.Null;
        if (Source is not null)
        {
            // The id is copied, because receiving a document may move the heap.
            Source.Load(_heap.Span(id).ToArray(), _receive);
        }

        _loads.Add(new LoadEntry(id, _received));
        return _received;
    }

    // Adds the loaded document. The run may take further steps for it, because a script usually reads what it loads.
    private void Receive(in ScriptDocument document)
    {
        _received = Add(document);
        _heap.Budget.Allow(
            Math.Min((long)document.Body.Length * _limits.StepsPerByte, _limits.MaxSteps / _limits.Loads)
        );
    }

    private record struct DocumentEntry(ScriptValue Id, int MetadataStart, int BodyStart, ScriptValue Metadata);

    private readonly record struct LoadEntry(ScriptValue Id, ScriptValue Document);
}
