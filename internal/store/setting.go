package store

// Settings of the data directory.
const (
	// SettingEmbedder is the id of the embedder whose vectors are searched.
	SettingEmbedder = "embedder"
	// SettingUnembedded is the first chunk that may lack a vector because the embedder failed;
	// unset if none does.
	SettingUnembedded = "unembedded"
	// SettingEmbeddingPaused is set while chunks are not embedded in the background.
	SettingEmbeddingPaused = "embedding_paused"
	// SettingMarkers is the secret of the markers in spotlighted text.
	SettingMarkers = "markers"
	// SettingEvents is the highest sequence that events may have used.
	SettingEvents = "events"
)
