using System.Buffers;

namespace Rookery.Indexing.Analysis;

/// <summary>The positions of one token in one document, ascending, in pooled memory.</summary>
internal sealed class PositionList : IDisposable
{
    private int[] positions = ArrayPool<int>.Shared.Rent(64);

    internal int Count { get; private set; }

    internal ReadOnlyMemory<int> Positions => positions.AsMemory(0, Count);

    internal void Add(int position)
    {
        if (Count == positions.Length)
        {
            var longer = ArrayPool<int>.Shared.Rent(Count * 2);
            positions.AsSpan().CopyTo(longer);
            ArrayPool<int>.Shared.Return(positions);
            positions = longer;
        }

        positions[Count++] = position;
    }

    internal void Clear() => Count = 0;

    public void Dispose()
    {
        ArrayPool<int>.Shared.Return(positions);
        positions = [];
        Count = 0;
    }
}
